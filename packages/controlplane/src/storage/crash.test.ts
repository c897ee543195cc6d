import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { KubeObject } from '@tenure/kube'
import { seededRandom } from '@tenure/kube/testing'
import { expect, test } from 'vitest'
import { HighWaterMark } from './sqlite/high-water-mark.ts'
import { open, temporaryDirectory } from './testing/storage.ts'
import type { StoredObject } from './types.ts'

const KILLS = 20

interface Acknowledged {
  readonly value: string
  readonly revision: number
}

/** Lets a child write until it has acknowledged `writes` writes, kills it, and returns the acknowledged writes. */
async function writeUntilKilled(directory: string, life: number, writes: number): Promise<Map<string, Acknowledged>> {
  const program = fileURLToPath(new URL('./testing/crash-child.ts', import.meta.url))
  const child = spawn(process.execPath, [program, directory, String(life)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // There are twenty starts; the compile cache saves stripping types in all but the first.
    env: { ...process.env, NODE_COMPILE_CACHE: path.join(tmpdir(), 'node-compile-cache') },
  })
  let text = ''
  let isKilled = false
  child.stdout.setEncoding('utf8')
  child.stdout.on('data', (chunk: string) => {
    text += chunk
    if (isKilled || text.split('\n').length <= writes + 1) return
    isKilled = true
    child.kill('SIGKILL')
  })
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  expect([code, signal]).toEqual([null, 'SIGKILL'])
  const acknowledged = new Map<string, Acknowledged>()
  for (const line of text.split('\n').slice(1, -1)) {
    const [name = '', value = '', revision] = line.split(' ')
    acknowledged.set(`default/${name}`, { value, revision: Number(revision) })
  }
  return acknowledged
}

/** Compares the stored state of a key with its last acknowledged write. */
function verdict({ value, revision }: Acknowledged, stored: StoredObject | undefined): string {
  const fine = 'as acknowledged or newer'
  // The next removal may be durable although it was not acknowledged.
  if (!stored) return Number(value.split('.')[1]) % 7 === 6 ? fine : 'lost'
  const { data } = stored.object as KubeObject & { readonly data: Record<string, string> }
  if (data.copy !== data.value) return 'stored in part'
  if (stored.object.metadata.resourceVersion !== String(stored.revision)) return 'of another revision'
  if (stored.revision === revision) return data.value === value ? fine : 'changed'
  return stored.revision > revision ? fine : 'older'
}

test('acknowledged writes survive kill -9 at any point, and no write is stored in part', async () => {
  const directory = await temporaryDirectory()
  const random = seededRandom(20_260_101)
  let newest = 1
  for (let life = 1; life <= KILLS; life++) {
    const acknowledged = await writeUntilKilled(directory, life, Math.floor(random.fraction() * 400))
    const mark = HighWaterMark.read(path.join(directory, 'state.db'))
    expect(mark).toBeGreaterThanOrEqual(Math.max(newest, ...[...acknowledged.values()].map(({ revision }) => revision)))
    const storage = await open({ directory })
    for (const [key, { value, revision }] of acknowledged) {
      newest = Math.max(newest, revision)
      const stored = storage.get('configmaps', key)
      expect(verdict({ value, revision }, stored)).toBe('as acknowledged or newer')
    }
    expect(storage.revision).toBeGreaterThanOrEqual(newest)
    // A watch resumes from the last revision it saw before the crash.
    const seen: number[] = []
    storage.watch('configmaps', newest - Math.min(newest - 1, 50), ({ revision }) => seen.push(revision))
    expect(seen).toEqual([...seen].toSorted((a, b) => a - b))
    expect(seen.at(-1) ?? newest).toBe(storage.revision)
    newest = storage.revision
    await storage.close()
  }
  expect(newest).toBeGreaterThan(KILLS * 20)
}, 120_000)
