import { ApiError, asError } from '../errors/errors.ts'
import type { ConnectionConfig } from './connection-config.ts'

/** The message for a program that could not start: what happened, with which server, and what to do. */
export function explainStartupFailure(error: unknown, config: ConnectionConfig): string {
  if (!(error instanceof ApiError)) return asError(error).message
  if (error.status === 401) return explainUnauthorized(config)
  if (error.status === 403) return explainForbidden(error, config)
  if (error.isTlsRequired) {
    return `The API server ${config.server} (${config.origin}) accepts only TLS: write its address with https.`
  }
  return `The API server ${config.server} (${config.origin}) answered ${error.status}: ${error.message}`
}

function explainUnauthorized(config: ConnectionConfig): string {
  const rejected = `The API server ${config.server} rejected the credentials of ${config.origin} (401)`
  const { credential } = config
  switch (credential.kind) {
    case 'token':
      return `${rejected}: the token has expired or is wrong; log in again or set a new token.`
    case 'token-file':
      return `${rejected}: the token in ${credential.path} has expired or is wrong; renew it.`
    case 'basic':
      return `${rejected}: the password is wrong or the server accepts none; log in differently.`
    case 'exec':
      return `${rejected}: the credential of the plugin "${credential.exec.command}" has expired or is for another cluster; log in again with it.`
    case 'none':
      return config.tls.certificate
        ? `${rejected}: the client certificate has expired or the server does not trust its authority; get a new one.`
        : `${rejected}: the configuration has none; add a user with credentials to the kubeconfig.`
    default:
      return credential satisfies never
  }
}

/** The user of requests without credentials, if the API server allows them. */
const ANONYMOUS = 'system:anonymous'

function explainForbidden(error: ApiError, config: ConnectionConfig): string {
  const at = `on the API server ${config.server} (${config.origin})`
  if (!error.deniedAccess) return `A request is not allowed ${at} (403): ${error.message}`
  const { user, verb, resource, group, namespace, path } = error.deniedAccess
  if (user === ANONYMOUS) {
    // Advice to grant permissions to anonymous users would open the cluster to everyone.
    return `The API server ${config.server} does not know the user (403), because ${config.origin} has no credentials: add a user with credentials to the kubeconfig.`
  }
  if (path !== undefined) {
    return `User "${user}" may not ${verb} the path ${path} ${at} (403): grant it with a ClusterRole that has it in nonResourceURLs and a ClusterRoleBinding.`
  }
  const what = group ? `${resource}.${group}` : resource
  return namespace === undefined
    ? `User "${user}" may not ${verb} ${what} in the whole cluster ${at} (403): grant it with a ClusterRole and a ClusterRoleBinding.`
    : `User "${user}" may not ${verb} ${what} in namespace ${namespace} ${at} (403): grant it with a Role and a RoleBinding there.`
}
