export {
  ClaimsServer,
  type ClaimsServerOptions,
  type ServedClaim,
  type ServedFault,
  type ServedRequest,
} from './claims-server.ts'
