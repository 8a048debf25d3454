WITH totals AS (
  SELECT name, (SELECT total(cents) FROM orders WHERE customer = customers.id) AS sum FROM customers
)
SELECT name, CAST(sum AS INTEGER) AS cents FROM totals ORDER BY 2 DESC, 1 ASC
