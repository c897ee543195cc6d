export { acquireHost, type HeldHost } from './acquire-host.ts'
export type { HostNote, HostRecord } from './host-record.ts'
export {
  joinOrHost,
  type HostedServer,
  type JoinOrHostOptions,
  type Member,
  type Membership,
  type StartContext,
} from './join.ts'
