// Rows as the views serve them, for commands that read a cluster without the operator.
export { LEADER_LEASE, OPERATOR } from './api/names.ts'
export { Application } from './api/types.ts'
export { childNames, MANAGED_SELECTOR } from './controllers/application/children/identity.ts'
export { applicationRow } from './http/application-row.ts'
export type { ApplicationRow } from './http/applications-view.ts'
