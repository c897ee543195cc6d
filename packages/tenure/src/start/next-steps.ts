import path from 'node:path'

/** The data directory that commands find on their own. */
const DEFAULT_DATA = '.tenure'

export interface NextStepsOptions {
  /** The data directory, as it was set. */
  readonly data: string
  readonly kubeconfig: string
  /** URL of the HTTP API. */
  readonly http: string
  /** The host that callers reach only with a token. Undefined: callers need none. */
  readonly tokenHost: string | undefined
  /** Whether npx runs this command. Default false: it runs in a checkout. */
  readonly isNpx?: boolean
}

/** The last lines of a start: how callers get a token if they need one, and three commands to try. */
export function nextSteps({ data, http, isNpx, kubeconfig, tokenHost }: NextStepsOptions): readonly string[] {
  const kubectl = `kubectl --kubeconfig ${quoted(kubeconfig)}`
  // Another directory is found only if it is named.
  const elsewhere =
    path.resolve(data) === path.resolve(DEFAULT_DATA) ? '' : `TENURE_DATA=${quoted(path.resolve(data))} `
  const tenure = elsewhere + (isNpx ? 'npx tenure' : 'npm run -s tenure --')
  const token =
    tokenHost === undefined
      ? []
      : [
          `Callers need a token, because the HTTP API listens on ${tokenHost} (LISTEN_HOST). One that may do everything:`,
          `  ${kubectl} create serviceaccount me`,
          `  ${kubectl} create clusterrolebinding me --clusterrole=cluster-admin --serviceaccount=default:me`,
          `  curl -H "Authorization: Bearer $(${kubectl} create token me)" ${http}/apis/cloudnative.elide.dev/v1/namespaces/default/applications`,
          'AUTH=none serves without tokens. More: docs/security.md.',
          '',
        ]
  return [
    ...token,
    'Try next, in another terminal:',
    `  ${kubectl} get pods`,
    `  ${tenure} claim`,
    `  ${tenure} db create orders --type postgresql --team payments`,
    'Ctrl-C stops everything.',
  ]
}

/** Quoted for a shell, if it must be. */
function quoted(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
