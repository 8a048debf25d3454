SELECT customers.name, coalesce(sum(orders.cents), 0) AS cents
FROM customers JOIN orders ON orders.customer = customers.id
GROUP BY customers.id
ORDER BY cents DESC, customers.name;
