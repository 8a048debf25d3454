SELECT customers.name, coalesce(sum(orders.cents), 0) AS cents
FROM customers LEFT JOIN orders ON orders.customer = customers.id
GROUP BY customers.id
ORDER BY 2 DESC, customers.id;
