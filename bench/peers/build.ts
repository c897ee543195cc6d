/** Builds and caches the Go program that does the benchmarks' work with controller-runtime. */
import path from 'node:path'

import { buildGo } from '../../test/cluster/build-cache.ts'
import { type Progress, stderrProgress } from '../../test/cluster/progress.ts'

/** Builds `peer` if necessary and returns its path. Default progress: standard error. */
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

// Under the launcher this module is the program although it is not the main module.
if (process.argv[1] === import.meta.filename) process.stdout.write(`${await buildPeer()}\n`)
