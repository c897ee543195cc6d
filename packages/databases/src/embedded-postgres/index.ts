export { installedBinaries } from './binaries.ts'
export {
  startEmbeddedPostgres,
  POSTGRES_URL_FILE,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from './embedded-postgres.ts'
