/** The Go program that does the benchmarks' work with controller-runtime, built once and cached. */
import path from 'node:path'

import { buildGo } from '../../test/cluster/build-cache.ts'
import { type Progress, stderrProgress } from '../../test/cluster/progress.ts'

/** Builds `peer` if need be, and answers the path of the program. Default progress: standard error. */
export async function buildPeer(progress: Progress = stderrProgress): Promise<string> {
  const cache = await buildGo(
    {
      label: 'bench-peer',
      module: import.meta.dirname,
      programs: [{ name: 'peer', package: '.' }],
      ldflags: ['-s -w'],
    },
    new Set(['peer']),
    progress,
  )
  return path.join(cache, 'bin', 'peer')
}

// Started by the launcher, this is not the main module but it is the program.
if (process.argv[1] === import.meta.filename) process.stdout.write(`${await buildPeer()}\n`)
