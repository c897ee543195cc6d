-- The volume grows in place, also while the database is down because the disk is full.
UPDATE resources SET config = config || '{"storage_size": "20Gi"}' WHERE name = 'orders';
