SELECT r.name, r.status, r.connection_info->>'error' AS reason, j.job_type, j.status AS job, j.error_message
FROM resources r LEFT JOIN provisioning_jobs j ON j.resource_id = r.id
ORDER BY r.name, j.id;
