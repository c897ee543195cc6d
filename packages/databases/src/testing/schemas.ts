/** Tables as platforms may have them before the first migration. */

const withIds = (id: string, reference: string): string => `
CREATE TABLE teams (id ${id} PRIMARY KEY, name varchar(255) NOT NULL UNIQUE, description text,
  is_global boolean NOT NULL DEFAULT false, created_at timestamptz DEFAULT now(), deleted_at timestamptz);
CREATE TABLE resource_types (id ${id} PRIMARY KEY, name varchar(100) NOT NULL UNIQUE, category varchar(50),
  display_name varchar(255), icon varchar(100), supports_full_lifecycle boolean DEFAULT true,
  supports_partial_lifecycle boolean DEFAULT true, supports_user_management boolean DEFAULT false,
  supports_backup boolean DEFAULT false, created_at timestamptz DEFAULT now());
CREATE TABLE resources (id ${id} PRIMARY KEY, name varchar(255) NOT NULL,
  resource_type_id ${reference} NOT NULL REFERENCES resource_types (id), team_id ${reference} NOT NULL REFERENCES teams (id),
  status varchar(50) NOT NULL DEFAULT 'pending', lifecycle_mode varchar(50) NOT NULL DEFAULT 'full',
  provisioning_method varchar(50), connection_info jsonb DEFAULT '{}', credentials jsonb DEFAULT '{}',
  tls_enabled boolean DEFAULT false, tls_ca_id ${reference}, tls_cert_id ${reference}, k8s_namespace varchar(255),
  k8s_resource_name varchar(255), k8s_resource_type varchar(100), config jsonb DEFAULT '{}',
  can_modify_users boolean DEFAULT false, can_modify_config boolean DEFAULT true, can_backup boolean DEFAULT false,
  can_scale boolean DEFAULT true, created_by ${reference}, created_at timestamptz DEFAULT now(),
  updated_at timestamptz DEFAULT now(), deleted_at timestamptz, owner_note text DEFAULT 'unknown to the operator');
CREATE TABLE provisioning_jobs (id ${id} PRIMARY KEY, resource_id ${reference} NOT NULL REFERENCES resources (id),
  job_type varchar(50) NOT NULL, status varchar(50) NOT NULL DEFAULT 'pending', started_at timestamptz,
  completed_at timestamptz, logs text, error_message text, created_by ${reference}, created_at timestamptz DEFAULT now(),
  updated_at timestamptz DEFAULT now());
CREATE TABLE audit_logs (id ${id} PRIMARY KEY, user_id ${reference}, action varchar(100) NOT NULL,
  resource_type varchar(100), resource_id ${reference}, team_id ${reference}, details jsonb, ip_address varchar(45),
  user_agent text, "timestamp" timestamptz DEFAULT now());`

/** The oldest: enums, json, times without a zone, few optional columns, users that must be named. */
const OLD = `
CREATE TYPE resource_status AS ENUM ('pending', 'provisioning', 'active', 'updating', 'paused', 'error', 'deleted');
CREATE TYPE job_status AS ENUM ('pending', 'running', 'completed', 'failed', 'rolled_back');
CREATE TABLE teams (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE resource_types (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE resources (id serial PRIMARY KEY, name text NOT NULL, resource_type_id integer, team_id integer,
  status resource_status NOT NULL DEFAULT 'pending', lifecycle_mode text NOT NULL DEFAULT 'full', connection_info json,
  credentials json, config json, created_by integer DEFAULT 7, deleted_at timestamp);
CREATE TABLE provisioning_jobs (id serial PRIMARY KEY, resource_id integer NOT NULL, job_type text NOT NULL,
  status job_status NOT NULL, started_at timestamp, completed_at timestamp, logs text, error_message varchar(80),
  created_by integer NOT NULL);
CREATE TABLE audit_logs (id serial PRIMARY KEY, user_id integer NOT NULL, action text NOT NULL, resource_type text,
  resource_id integer, details json, "timestamp" timestamp DEFAULT now());`

/** Half of the tables, and documents in text columns. */
const PARTIAL = `
CREATE TABLE teams (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL);
CREATE TABLE resources (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, team_id bigint,
  resource_type_id bigint, lifecycle_mode text DEFAULT 'full', config text, connection_info text);`

export const PLATFORM_SCHEMAS = {
  empty: '',
  integer: withIds('serial', 'integer'),
  bigint: withIds('bigserial', 'bigint'),
  old: OLD,
  partial: PARTIAL,
} as const
export type PlatformSchema = keyof typeof PLATFORM_SCHEMAS
export const PLATFORM_SCHEMA_NAMES = Object.keys(PLATFORM_SCHEMAS) as readonly PlatformSchema[]
