import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { startControlPlane } from '@tenure/controlplane'
import type { Flags } from '../../programs/usage.ts'

/** Serves until the process is stopped. SIGTERM stops it cleanly, so that a profile can be written. */
export async function serve(flag: Flags): Promise<undefined> {
  const directory = flag('directory')
  const plane = await startControlPlane({ directory, port: Number(flag('port')) })
  writeFileSync(path.join(directory, 'kubeconfig'), plane.kubeconfig ?? '', { mode: 0o600 })
  process.once('SIGTERM', () => void plane.stop())
}
