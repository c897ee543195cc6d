-- A team, and a database of the team. The operator creates everything else.
INSERT INTO teams (name) VALUES ('payments');
INSERT INTO resources (name, resource_type_id, team_id, status, lifecycle_mode, config)
VALUES (
  'orders',
  (SELECT id FROM resource_types WHERE name = 'postgresql'),
  (SELECT id FROM teams WHERE name = 'payments'),
  'pending',
  'full',
  '{"version": "16", "storage_size": "10Gi", "settings": {"max_connections": 200}}'
);
