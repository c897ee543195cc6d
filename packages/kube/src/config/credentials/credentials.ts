import { ExecCredentials } from './exec-credentials.ts'
import { TokenFile } from './token-file.ts'
import type { ConnectionConfig } from '../connection-config.ts'
import type { Credential, CredentialSource, CredentialSourceOptions } from './credential-source.ts'

/** The source of the credentials in a configuration. */
export function credentialSource(config: ConnectionConfig, options: CredentialSourceOptions): CredentialSource {
  const { credential } = config
  switch (credential.kind) {
    case 'none':
      return fixed({})
    case 'token':
      return fixed({ authorization: `Bearer ${credential.token.reveal()}` })
    case 'basic': {
      const pair = Buffer.from(`${credential.username}:${credential.password.reveal()}`).toString('base64')
      return fixed({ authorization: `Basic ${pair}` })
    }
    case 'token-file':
      return new TokenFile(credential.path, credential.fallback, config.origin, options)
    case 'exec':
      return new ExecCredentials(credential.exec, config.origin, options)
    default:
      return credential satisfies never
  }
}

function fixed(credential: Credential): CredentialSource {
  return { get: () => credential, renew: () => Promise.resolve(credential), close: () => undefined }
}
