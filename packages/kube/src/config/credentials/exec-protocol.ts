import { asJsonObject, isJsonObject, type JsonObject } from '../../model/json.ts'
import { readPem } from '../pem.ts'
import type { ExecCluster, ExecConfig } from '../connection-config.ts'
import type { Credential } from './credential-source.ts'
import type { Files } from '../files.ts'

/** The `KUBERNETES_EXEC_INFO` for a plugin. */
export async function writeExecInfo(
  apiVersion: ExecConfig['apiVersion'],
  interactive: boolean,
  cluster: ExecCluster | undefined,
  files: Files,
): Promise<string> {
  const ca = cluster?.ca && (await readPem(files, cluster.ca))
  return JSON.stringify({
    kind: 'ExecCredential',
    apiVersion,
    spec: {
      cluster: cluster && {
        server: cluster.server,
        'tls-server-name': cluster.tlsServerName,
        'insecure-skip-tls-verify': cluster.insecure || undefined,
        'certificate-authority-data': ca && Buffer.from(ca).toString('base64'),
        'proxy-url': cluster.proxyUrl?.reveal(),
        'disable-compression': cluster.disableCompression || undefined,
        config: cluster.config,
      },
      interactive,
    },
  })
}

/** The credential in a plugin's output, or what is wrong with the output. Never quotes the output, which contains secrets. */
export function readExecCredential(
  printed: string,
  apiVersion: ExecConfig['apiVersion'],
): { readonly credential: Credential; readonly expires: number | undefined } | string {
  const output = parse(printed)
  if (!output || output['kind'] !== 'ExecCredential') return 'printed something that is not an ExecCredential in JSON'
  if (output['apiVersion'] !== apiVersion) {
    return `printed ${String(output['apiVersion'])}, but the kubeconfig expects ${apiVersion}`
  }
  const status = asJsonObject(output['status'])
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status
  const hasCertificate = isText(cert) && isText(key)
  if (isText(cert) !== isText(key)) return 'returned a client certificate without its key, or a key alone'
  if (!isText(token) && !hasCertificate) return 'returned neither a token nor a client certificate'
  const expires = isText(expirationTimestamp) ? Date.parse(expirationTimestamp) : undefined
  if (expires !== undefined && Number.isNaN(expires)) return 'returned an expirationTimestamp that is not a time'
  return {
    credential: {
      authorization: isText(token) ? `Bearer ${token}` : undefined,
      certificate: hasCertificate ? { cert, key } : undefined,
    },
    expires,
  }
}

function parse(printed: string): JsonObject | undefined {
  try {
    const output: unknown = JSON.parse(printed)
    return isJsonObject(output) ? output : undefined
  } catch {
    return undefined
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
