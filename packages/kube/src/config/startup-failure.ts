import { ApiError, asError } from '../errors/errors.ts'
import type { ConnectionConfig } from './connection-config.ts'

/** One sentence for a person whose program could not start: what happened, with which server, and what to do. */
export function explainStartupFailure(error: unknown, config: ConnectionConfig): string {
  if (!(error instanceof ApiError)) return asError(error).message
  if (error.status === 401) return explainUnauthorized(config)
  if (error.status === 403) return explainForbidden(error, config)
  if (error.isTlsRequired) {
    return `The API server ${config.server} (${config.origin}) speaks TLS only: write its address with https.`
  }
  return `The API server ${config.server} (${config.origin}) answered ${error.status}: ${error.message}`
}

function explainUnauthorized(config: ConnectionConfig): string {
  const refused = `The API server ${config.server} refused the credentials of ${config.origin} (401)`
  const { credential } = config
  switch (credential.kind) {
    case 'token':
      return `${refused}: the token has expired or is wrong; log in again or set a new token.`
    case 'token-file':
      return `${refused}: the token in ${credential.path} has expired or is wrong; have it written again.`
    case 'basic':
      return `${refused}: the password is wrong or the server takes none; log in in another way.`
    case 'exec':
      return `${refused}: what the plugin "${credential.exec.command}" hands out has expired or is for another cluster; log in again with it.`
    case 'none':
      return config.tls.certificate
        ? `${refused}: the client certificate has expired or its authority is not trusted there; have a new one issued.`
        : `${refused}: there are none; add a user with credentials to the kubeconfig.`
    default:
      return credential satisfies never
  }
}

/** Who comes without credentials, where the API server lets such people in at all. */
const ANONYMOUS = 'system:anonymous'

function explainForbidden(error: ApiError, config: ConnectionConfig): string {
  const at = `on the API server ${config.server} (${config.origin})`
  if (!error.deniedAccess) return `Something is not allowed ${at} (403): ${error.message}`
  const { user, verb, resource, group, namespace, path } = error.deniedAccess
  if (user === ANONYMOUS) {
    // Granted to nobody in particular, a right is everybody's: not what to advise.
    return `The API server ${config.server} does not know who is asking (403), because ${config.origin} brings no credentials: add a user with credentials to the kubeconfig.`
  }
  if (path !== undefined) {
    return `User "${user}" may not ${verb} the path ${path} ${at} (403): grant it with a ClusterRole that has it in nonResourceURLs and a ClusterRoleBinding.`
  }
  const what = group ? `${resource}.${group}` : resource
  return namespace === undefined
    ? `User "${user}" may not ${verb} ${what} in the whole cluster ${at} (403): grant it with a ClusterRole and a ClusterRoleBinding.`
    : `User "${user}" may not ${verb} ${what} in namespace ${namespace} ${at} (403): grant it with a Role and a RoleBinding there.`
}
