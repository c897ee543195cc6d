import { ApiError, type Kind, kindKey, type Selection, TenureError } from '@tenure/kube'

/** Whether an explained failure says that the server does not serve the kind. */
export function isUnknownKind(error: Error): boolean {
  return error instanceof TenureError && error.code === 'TENURE_KIND_UNKNOWN'
}

/** Rewords a failure so that the message says what to do. */
export function explain(kind: Kind, selection: Selection, error: Error): Error {
  if (!(error instanceof ApiError)) return error
  const options = { cause: error, fate: 'retry' } as const
  const what = kindKey(kind)
  const where = selection.namespace ? `in namespace ${selection.namespace}` : 'in all namespaces'
  switch (error.status) {
    case 401:
      return new TenureError(
        'TENURE_WATCH_UNAUTHORIZED',
        `The API server rejects the credentials for watching ${what}: renew the token or certificate. Retrying.`,
        options,
      )
    case 403:
      return new TenureError(
        'TENURE_WATCH_FORBIDDEN',
        `Not allowed to watch ${what}${kind.namespaced ? ` ${where}` : ''}: grant the verbs list and watch on it. Retrying.`,
        options,
      )
    case 404:
      return new TenureError(
        'TENURE_KIND_UNKNOWN',
        `The API server does not serve ${what}: install its CustomResourceDefinition or serve that version. Retrying.`,
        options,
      )
    default:
      return error
  }
}
