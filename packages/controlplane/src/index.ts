export { startControlPlane, type ControlPlane, type ControlPlaneOptions } from './control-plane.ts'
export { SIMULATE, type NodesOptions, type PodTimes } from './controllers/index.ts'
export { StatusError, type StatusDetails } from './errors.ts'
export {
  type HostedServer,
  type HostedService,
  joinOrHost,
  type JoinOrHostOptions,
  type Member,
  type Membership,
  openDirectory,
  type OpenDirectory,
  type OpenDirectoryOptions,
  type ServingControlPlane,
} from './host/index.ts'
export type { User } from './registry/types.ts'
export { InProcessTransport, type Fault } from './server/in-process-transport.ts'
export { KUBERNETES_VERSION } from './server/discovery/version.ts'
