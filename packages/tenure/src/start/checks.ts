import { checkTlsFiles, type TlsOptions } from '@tenure/http'
import { asError, TenureError } from '@tenure/kube'
import { parseAddress } from '@tenure/runtime/health'
import { describePortHolder, findPort, type ListenOptions } from '@tenure/runtime/health'
import { checkDataDirectory } from './data-directory.ts'

export interface AddressCheck extends ListenOptions {
  readonly address: string
}

export interface StartChecks {
  /** The program, for messages: `tenure start`. */
  readonly program: string
  readonly directory: string
  readonly addresses: readonly AddressCheck[]
  readonly tls?: TlsOptions | undefined
}

/** A port that another program has, although it is the default, and the one that is used. */
export interface TakenPort {
  readonly port: number
  readonly holder: string
}

/**
 * Checks addresses, TLS files and the data directory before anything is started, and reports all problems at once. Returns the
 * default ports that are taken; the next free ones are used.
 */
export async function checkStart({ addresses, directory, program, tls }: StartChecks): Promise<readonly TakenPort[]> {
  const taken: TakenPort[] = []
  const checks = [
    async () => {
      if (tls && 'certificateFile' in tls) await checkTlsFiles(tls)
    },
    ...addresses.map(({ address, ...options }) => async () => {
      const port = await findPort(address, options)
      const wanted = parseAddress(address)?.port
      if (wanted !== undefined && port !== undefined && port !== wanted)
        taken.push({ port: wanted, holder: await describePortHolder(wanted) })
    }),
    () => checkDataDirectory(directory),
  ]
  const problems: Error[] = []
  // In sequence: two servers with the same port must not disturb each other's check.
  for (const check of checks) await check().catch((error: unknown) => problems.push(asError(error)))
  const [first, second] = problems
  if (first && !second) throw first
  if (first) {
    const lines = problems.map(({ message }) => `  - ${message}`).join('\n')
    throw new TenureError(
      'TENURE_START_IMPOSSIBLE',
      `${program} cannot start, ${problems.length} settings are wrong:\n${lines}`,
      { cause: first },
    )
  }
  return taken
}
