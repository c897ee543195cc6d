// node scripts/launch.mjs scripts/screenshots.ts [folder]: pictures of every view of the dashboard, of a real `npm start`
// with a little of everything: light and dark, wide and narrow, full and empty. Default folder: docs/images.
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { programArguments } from './program-help.ts'
import { launch, Tab, Tenure } from '../test/browser/support.ts'

const { positionals } = programArguments(
  {
    usage: 'node scripts/launch.mjs scripts/screenshots.ts [folder]',
    summary: 'Take pictures of every view of the dashboard with Chromium.',
    arguments: [{ term: 'folder', meaning: 'Folder of the pictures. Default: docs/images.' }],
  },
  { allowPositionals: true },
)
const folder = path.resolve(positionals[0] ?? path.join(import.meta.dirname, '../docs/images'))
mkdirSync(folder, { recursive: true })

const VIEWS: Readonly<Record<string, string>> = {
  overview: '#/',
  applications: '#/applications',
  application: '#/applications/default/shop',
  claims: '#/claims',
  leases: '#/leases',
  databases: '#/databases',
  database: '#/databases/1',
  object: '#/object?apiVersion=apps/v1&kind=Deployment&namespace=default&name=shop',
  controllers: '#/controllers',
}
const NARROW = { viewport: { width: 360, height: 740 } }
const APPLICATIONS = '/apis/cloudnative.elide.dev/v1/namespaces/default/applications'

const tenure = await Tenure.start()
const browser = await launch()
try {
  for (const name of ['overview', 'applications', 'leases', 'databases']) {
    await picture(`empty-${name}`, VIEWS[name] ?? '', {})
    await picture(`empty-${name}-narrow`, VIEWS[name] ?? '', NARROW)
  }
  await fill()
  for (const [name, hash] of Object.entries(VIEWS)) {
    await picture(name, hash, {})
    await picture(`${name}-dark`, hash, { colorScheme: 'dark' })
    await picture(`${name}-narrow`, hash, NARROW)
  }
} finally {
  await browser.close()
  await tenure.stop()
}

/** One picture; waits until the page shows its data. */
async function picture(name: string, hash: string, options: Parameters<typeof Tab.open>[2]): Promise<void> {
  const tab = await Tab.open(browser, `${tenure.url}/${hash}`, options)
  await tab.page.waitForLoadState('load')
  await tab.page.locator('main').waitFor()
  await tab.page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
  await tab.page.waitForTimeout(600)
  await tab.page.screenshot({ path: path.join(folder, `${name}.png`) })
  for (const error of tab.errors) console.error(`${name}: ${error}`)
  await tab.close()
}

/** Some of everything, in different states. */
async function fill(): Promise<void> {
  for (const [name, replicas, image] of [
    ['shop', 3, 'nginx:1.29'],
    ['checkout', 2, 'gcr.io/example/checkout:4.2'],
    ['search', 5, 'gcr.io/example/search:1.9'],
  ] as const) {
    await tenure.call('POST', APPLICATIONS, {
      metadata: { name },
      spec: { replicas, image, strategy: 'RollingUpdate' },
    })
  }
  await tenure.command('db', 'create', 'orders', '--type', 'postgresql')
  await tenure.command('db', 'create', 'sessions', '--type', 'redis', '--replicas', '2')
  for (const ttl of ['8m', '3m', '45s']) await tenure.call('POST', '/claim', { ttl })
  for (const [kind, name, ttl] of [
    ['Deployment', 'shop', '6h'],
    ['ConfigMap', 'kube-root-ca.crt', '2d'],
  ] as const) {
    const apiVersion = kind === 'Deployment' ? 'apps/v1' : 'v1'
    // Not every kind has a LeaseController.
    await tenure
      .call('POST', '/api/v1/leases', { apiVersion, kind, namespace: 'default', name, ttl })
      .catch(() => undefined)
  }
}
