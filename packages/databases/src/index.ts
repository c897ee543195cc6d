export * from './api/rows.ts'
export { databasesConfig, type DatabasesSettings } from './config.ts'
export { databases } from './operator.ts'
export { databasesRbac } from './rbac.ts'
