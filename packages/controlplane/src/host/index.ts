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
export {
  openDirectory,
  type OpenDirectory,
  type OpenDirectoryOptions,
  type ServingControlPlane,
} from './open-directory.ts'
export type { HostedService } from './services.ts'
