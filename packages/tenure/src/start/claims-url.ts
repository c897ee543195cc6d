import path from 'node:path'
import { findInstance } from './instances.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The environment of commands that talk to the claims API. If no address is set, it has the one of `npm start` in the working
 * directory, and a message says so.
 */
export async function withClaimsUrl(
  environment: Environment,
  { url, warn }: { readonly url: string | undefined; readonly warn: (text: string) => void },
): Promise<Environment> {
  if (url !== undefined || environment['CLAIMS_URL']) return environment
  const { TENURE_DATA: data } = environment
  const directory = path.resolve(data || '.tenure')
  const instance = await findInstance(directory)
  if (!instance) return environment
  warn(`No address of the claims API is set: using ${instance.claims} of npm start (process ${instance.pid}).`)
  return { ...environment, CLAIMS_URL: instance.claims }
}
