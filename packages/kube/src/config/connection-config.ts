import { SecretValue } from './secret-value.ts'

/** PEM text, given directly or in a file that is read again when it changes. */
export type PemSource = { readonly file: string } | { readonly pem: SecretValue }

export interface TlsConfig {
  /** The trusted authorities. Default: those of Node. */
  readonly ca?: PemSource | undefined
  readonly certificate?: { readonly cert: PemSource; readonly key: PemSource } | undefined
  /** The name expected in the server's certificate. Default: the host of the URL. */
  readonly serverName?: string | undefined
  /** Accept any certificate. Default false. */
  readonly insecure?: boolean | undefined
}

/** The `spec.cluster` of an ExecCredential: information about the cluster for an exec plugin. */
export interface ExecCluster {
  readonly server: string
  readonly tlsServerName?: string | undefined
  readonly insecure?: boolean | undefined
  readonly ca?: PemSource | undefined
  readonly proxyUrl?: SecretValue | undefined
  readonly disableCompression?: boolean | undefined
  /** The cluster's extension `client.authentication.k8s.io/exec`, unchanged. */
  readonly config?: unknown
}

export type InteractiveMode = 'Never' | 'IfAvailable' | 'Always'

export interface ExecConfig {
  readonly apiVersion: 'client.authentication.k8s.io/v1' | 'client.authentication.k8s.io/v1beta1'
  readonly command: string
  readonly args: readonly string[]
  /** The plugin's whole environment. */
  readonly env: SecretValue<Readonly<Record<string, string>>>
  readonly interactiveMode: InteractiveMode
  readonly installHint?: string | undefined
  /** Set if the plugin asks for it (`provideClusterInfo`). */
  readonly cluster?: ExecCluster | undefined
}

export type CredentialConfig =
  | { readonly kind: 'none' }
  | { readonly kind: 'token'; readonly token: SecretValue }
  /** `fallback` is used while the file cannot be read. */
  | { readonly kind: 'token-file'; readonly path: string; readonly fallback?: SecretValue | undefined }
  | { readonly kind: 'basic'; readonly username: string; readonly password: SecretValue }
  | { readonly kind: 'exec'; readonly exec: ExecConfig }

/** Impersonates another user; the API server checks the permission. */
export interface Impersonation {
  readonly user: string
  readonly uid?: string | undefined
  readonly groups?: readonly string[] | undefined
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined
}

/** The address of an API server and the credentials for it. Plain data, safe to log. */
export interface ConnectionConfig {
  /** `https://host:6443`, optionally with a base path, without a trailing slash. */
  readonly server: string
  readonly tls: TlsConfig
  readonly credential: CredentialConfig
  readonly impersonate?: Impersonation | undefined
  /** `http:`, `https:` or `socks5:`. Default: a direct connection. */
  readonly proxyUrl?: SecretValue | undefined
  /** The default namespace. */
  readonly namespace: string
  /** The source of this configuration, for messages: `context "dev" of /home/me/.kube/config`. */
  readonly origin: string
  /** The kubeconfig context, if any. */
  readonly context?: string | undefined
}

export interface DirectConnection {
  readonly server: string
  /** PEM text. */
  readonly ca?: string
  /** PEM text of the client's certificate and key. */
  readonly certificate?: { readonly cert: string; readonly key: string }
  readonly token?: string
  readonly insecure?: boolean
  /** Default `default`. */
  readonly namespace?: string
  /** Default `the program's own configuration`. */
  readonly origin?: string
}

/** A configuration from known values, without a kubeconfig. */
export function connectTo(connection: DirectConnection): ConnectionConfig {
  const { ca, certificate, token } = connection
  return {
    server: connection.server.replace(/\/+$/, ''),
    tls: {
      ca: ca === undefined ? undefined : { pem: new SecretValue(ca) },
      certificate: certificate && {
        cert: { pem: new SecretValue(certificate.cert) },
        key: { pem: new SecretValue(certificate.key) },
      },
      insecure: connection.insecure ?? false,
    },
    credential: token === undefined ? { kind: 'none' } : { kind: 'token', token: new SecretValue(token) },
    namespace: connection.namespace ?? 'default',
    origin: connection.origin ?? "the program's own configuration",
  }
}
