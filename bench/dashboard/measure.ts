import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Client, HttpTransport, loadConfig } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import type { Browser, Page } from 'playwright-core'
import { launch, Tab, Tenure } from '../../test/browser/support.ts'
import { cpuMs } from '../control-plane/processes.ts'
import { pause, quantile } from '../operators/operator-process.ts'
import { inParallel } from '../programs/cluster.ts'
import type { Row } from '../rows.ts'

const ROWS = 30_000
const ROUNDS = 15
const REST_SECONDS = 20
const PREFIX = 'object-lease-controller.ullberg.us'

/** Measures the dashboard in Chromium, against `npm start` with 30,000 leased ConfigMaps. */
export async function measureDashboard(say: (text: string) => void): Promise<readonly Row[]> {
  const tenure = await Tenure.start()
  const browser = await launch()
  try {
    await createLeases(tenure.data)
    say(`  ${ROWS} leased objects created`)
    await untilListed(tenure)
    say('  all are listed')
    const pid = hostPid(tenure.data)
    const alone = await cpuAtRest(pid)
    const small = await firstViews(browser, `${tenure.url}/#/applications`)
    const large = await firstViews(browser, `${tenure.url}/#/leases`)
    say('  first views measured')
    const tab = await Tab.open(browser, `${tenure.url}/#/leases`)
    const { page } = tab
    await page.locator(`[role=grid][aria-rowcount="${ROWS + 1}"]`).waitFor()
    const filtered = await measureInPage(page, FILTER)
    const sorted = await measureInPage(page, SORT)
    const scrolled = await measureInPage(page, SCROLL)
    say('  filter, sort and scrolling measured')
    const memory = await tabMemory(browser, page)
    const open = await cpuAtRest(pid)
    await tab.close()
    return [
      atMost('interactive, from the start of the navigation, p50', 'ms', quantile(small, 0.5), 300),
      atMost(`${ROWS} rows: first view, p50`, 'ms', quantile(large, 0.5), 1_000),
      atMost('… filter, until the next frame, p50', 'ms', quantile(filtered, 0.5), 50),
      atMost('… sort, until the next frame, p50', 'ms', quantile(sorted, 0.5), 50),
      atMost('… screens without rows while scrolling', '', scrolled.filter((rows) => rows === 0).length, 0),
      atMost('… private memory of the tab', 'MB', memory, 150),
      atMost('… CPU of the server for an open page at rest, per second', 'ms', Math.max(0, open - alone), 10),
    ]
  } finally {
    await browser.close()
    await tenure.stop()
  }
}

async function createLeases(data: string): Promise<void> {
  const transport = new HttpTransport(await loadConfig({ kubeconfigPath: path.join(data, 'kubeconfig') }))
  const client = new Client({ transport })
  await inParallel(ROWS, 32, async (index) => {
    const annotations = { [`${PREFIX}/ttl`]: `${1 + (index % 300)}h` }
    await client.create(ConfigMap, { metadata: { name: `leased-${index}`, namespace: 'default', annotations } })
  })
  await transport.close()
}

/** Waits until each lease has its end. */
async function untilListed(tenure: Tenure): Promise<void> {
  for (;;) {
    const { total } = (await tenure.call('GET', '/api/v1/views/leases?q=Expires&limit=1')) as { readonly total: number }
    if (total >= ROWS) return
    await pause(500)
  }
}

const hostPid = (data: string): number =>
  (JSON.parse(readFileSync(path.join(data, 'host.json'), 'utf8')) as { readonly pid: number }).pid

async function cpuAtRest(pid: number): Promise<number> {
  await pause(3_000)
  const before = cpuMs([pid])
  await pause(REST_SECONDS * 1_000)
  return (cpuMs([pid]) - before) / REST_SECONDS
}

/** Milliseconds until the list is shown, each with a new context: nothing is cached. */
async function firstViews(browser: Browser, url: string): Promise<readonly number[]> {
  const taken: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const tab = await Tab.open(browser, url)
    await tab.page.locator('[role=grid]').waitFor()
    taken.push(await tab.page.evaluate(FIRST_VIEW))
    await tab.close()
  }
  return taken
}

async function measureInPage(page: Page, script: string): Promise<readonly number[]> {
  return (await page.evaluate(`(${script})(${ROUNDS})`)) as readonly number[]
}

/** Since the start of the navigation: rows are there, or the note that there are none. */
const FIRST_VIEW = `new Promise((resolve) => {
  const look = () => {
    const grid = document.querySelector('[role=grid]')
    const isShown = grid && (grid.querySelector('[data-index]') || grid.textContent.includes('yet'))
    if (isShown) resolve(performance.now())
    else requestAnimationFrame(look)
  }
  look()
})`

const NEXT_FRAME = `() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))`

const FILTER = `async (rounds) => {
  const nextFrame = ${NEXT_FRAME}
  const input = document.querySelector('input.filter')
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set
  const grid = document.querySelector('[role=grid]')
  const taken = []
  for (let round = 0; round < rounds; round++) {
    for (const text of ['leased-' + (100 + round), '']) {
      const before = grid.getAttribute('aria-rowcount')
      const start = performance.now()
      set.call(input, text)
      input.dispatchEvent(new InputEvent('input', { bubbles: true }))
      while (grid.getAttribute('aria-rowcount') === before) await nextFrame()
      taken.push(performance.now() - start)
    }
  }
  return taken
}`

const SORT = `async (rounds) => {
  const nextFrame = ${NEXT_FRAME}
  const taken = []
  for (let round = 0; round < rounds; round++) {
    const heads = [...document.querySelectorAll('[role=columnheader] button')]
    const head = heads[round % heads.length]
    const order = () => [...document.querySelectorAll('[role=columnheader]')].map((each) => each.getAttribute('aria-sort')).join()
    const before = order()
    const start = performance.now()
    head.click()
    while (order() === before) await nextFrame()
    taken.push(performance.now() - start)
  }
  return taken
}`

/** The number of rows on the screen in each frame of a fast scroll. */
const SCROLL = `async () => {
  const counts = []
  const end = document.documentElement.scrollHeight - innerHeight
  for (let step = 0; step <= 120; step++) {
    scrollTo(0, (end * step) / 120)
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    counts.push([...document.querySelectorAll('[data-index]')].filter((row) => {
      const { top, bottom } = row.getBoundingClientRect()
      return bottom > 0 && top < innerHeight
    }).length)
  }
  return counts
}`

/** Private memory of the renderer in MB, after a collection. */
async function tabMemory(browser: Browser, page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { processInfo } = await (await browser.newBrowserCDPSession()).send('SystemInfo.getProcessInfo')
  const renderers = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => privateMb(id))
  return Math.max(...renderers)
}

function privateMb(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const kilobytes = [...text.matchAll(/^Private_(?:Clean|Dirty): +(\d+) kB$/gm)].map(([, value]) => Number(value))
  return kilobytes.reduce((sum, each) => sum + each, 0) / 1024
}

function atMost(what: string, unit: string, ours: number, limit: number): Row {
  return { what, unit, ours, peer: undefined, bound: { on: 'value', is: 'at most', limit } }
}
