import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { freePorts } from '../../test/cluster/free-ports.ts'
import { inParallel } from '../programs/cluster.ts'
import { prepareBareMembers } from './bare-server.ts'
import { ClaimsClient } from './claims-client.ts'
import { type HandOutFigures, takeWarm, timed } from './claims-measured.ts'
import { SMALL_TEMPLATE } from './claims-operator.ts'

const POOL = 8_000
const ROUND = 500
const CALLERS = 16

const perSecond = (ms: number): number => (ROUND / ms) * 1_000

/**
 * Hand-outs per second over HTTP of an operator in the process of the embedded control plane, alternating with
 * conditional writes without it, as many at a time. All are on disk before they are acknowledged.
 */
export async function embeddedThroughput(program: string): Promise<HandOutFigures> {
  const [port = 0, barePort = 0, guardedPort = 0] = await freePorts(3)
  const folder = mkdtempSync(path.join(tmpdir(), 'tenure-bench-embedded-'))
  const template = path.join(folder, 'template.yaml')
  const values = path.join(folder, 'values.yaml')
  writeFileSync(template, SMALL_TEMPLATE)
  writeFileSync(values, '{}')
  const ports = { port, 'bare-port': barePort, 'guarded-port': guardedPort }
  const options = { ...ports, directory: path.join(folder, 'data'), template, values, count: POOL }
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
  // The options of `npm start`.
  const node = ['--max-semi-space-size=2', '--heap-growing-percent=40']
  const child = spawn(process.execPath, [...node, program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const caller = new ClaimsClient(port)
  const bareCaller = new ClaimsClient(barePort)
  const guardedCaller = new ClaimsClient(guardedPort)
  const claims: number[] = []
  const bare: number[] = []
  const bareHttp: number[] = []
  const guarded: number[] = []
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const next = async (): Promise<{ readonly ms: number }> => {
      const { value } = (await lines.next()) as { readonly value?: string }
      if (value === undefined) throw new Error('The embedded operator has ended')
      return JSON.parse(value) as { readonly ms: number }
    }
    await next()
    await prepareBareMembers(barePort, 'served', POOL)
    await prepareBareMembers(guardedPort, 'guarded', POOL)
    for (let round = 0; round < POOL / ROUND; round++) {
      child.stdin.write(`${ROUND} ${CALLERS}\n`)
      bare.push(perSecond((await next()).ms))
      for (const [each, rates] of [
        [bareCaller, bareHttp],
        [guardedCaller, guarded],
        [caller, claims],
      ] as const) {
        rates.push(perSecond(await timed(() => inParallel(ROUND, CALLERS, () => takeWarm(each)))))
      }
    }
  } finally {
    caller.close()
    bareCaller.close()
    guardedCaller.close()
    child.stdin.end()
    await exited
    rmSync(folder, { recursive: true, force: true })
  }
  // The first half of the rounds warms all sides up.
  const [ours, direct, http, behindGuards] = [claims, bare, bareHttp, guarded].map((rates) =>
    rates.slice(POOL / ROUND / 2),
  )
  return { claims: ours ?? [], bare: direct ?? [], bareHttp: http ?? [], guarded: behindGuards ?? [] }
}
