-- No pods, and the volumes stay. The status active starts it again.
UPDATE resources SET status = 'paused' WHERE name = 'orders';
