import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { Client, HttpTransport, loadConfig } from '@tenure/kube'
import { ClusterRole, ClusterRoleBinding, ConfigMap, ServiceAccount } from '@tenure/kube/kinds'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium, launch, Tab, Tenure, WAIT } from './support.ts'

const APPLICATIONS = '/apis/cloudnative.elide.dev/v1/namespaces/default/applications'
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const HOSTILE = '<img src=x onerror="window.wasHit=1">'

async function withClient<R>(data: string, work: (client: Client) => Promise<R>): Promise<R> {
  const transport = new HttpTransport(await loadConfig({ kubeconfigPath: path.join(data, 'kubeconfig') }))
  try {
    return await work(new Client({ transport }))
  } finally {
    await transport.close()
  }
}

describe.skipIf(!hasChromium)('the dashboard in Chromium', { timeout: 180_000 }, () => {
  let tenure: Tenure
  let browser: Browser
  const tabs: Tab[] = []

  beforeAll(async () => {
    tenure = await Tenure.start()
    browser = await launch()
  }, 180_000)
  afterEach(async () => {
    for (const tab of tabs.splice(0)) await tab.close()
  })
  afterAll(async () => {
    await browser.close()
    await tenure.stop()
  }, 120_000)

  async function open(hash: string, options: Parameters<typeof Tab.open>[2] = {}, url = tenure.url): Promise<Tab> {
    const tab = await Tab.open(browser, `${url}/${hash}`, options)
    tabs.push(tab)
    return tab
  }

  const newApplication = (name: string, replicas = 1): Promise<unknown> =>
    tenure.call('POST', APPLICATIONS, {
      metadata: { name },
      spec: { replicas, image: 'nginx:1.29', strategy: 'RollingUpdate' },
    })

  test('an Application is created, runs, is scaled and deleted, and a bad value is shown at its field', async () => {
    const { errors, page } = await open('#/applications')
    await page.getByRole('button', { name: 'New application' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('shop')
    await dialog.getByLabel('Image').fill('nginx:1.29')
    await dialog.getByLabel('Replicas').fill('150')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText('Value must be at most 100').waitFor()
    await dialog.getByLabel('Replicas').fill('2')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'shop' }).waitFor()
    await page.getByText('2 of 2 replicas are ready').first().waitFor()
    await page.getByRole('button', { name: 'Scale' }).click()
    await dialog.getByLabel('Replicas').fill('3')
    await dialog.getByRole('button', { name: 'Scale' }).click()
    await page.getByText('3 of 3 replicas are ready').first().waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    const confirm = dialog.getByRole('button', { name: 'Delete' })
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill('shop')
    await confirm.click()
    await expect.poll(() => tenure.call('GET', `${APPLICATIONS}/shop`).catch(String), WAIT).toContain('404')
    // The browser reports the 400 of the bad value.
    expect(errors.filter((error) => !/status of (400|404)/.test(error))).toEqual([])
  })

  test('a change by another program is shown by the stream, without a reload', async () => {
    const { errors, page } = await open('#/applications')
    await page.locator('.connection.live').waitFor()
    await newApplication('elsewhere')
    await page.getByRole('row', { name: /elsewhere/ }).waitFor()
    await tenure.call('DELETE', `${APPLICATIONS}/elsewhere`)
    await page.getByRole('row', { name: /elsewhere/ }).waitFor({ state: 'detached' })
    expect(errors).toEqual([])
  })

  test('a claim is taken, counts down, is renewed and released', async () => {
    const { errors, page } = await open('#/claims')
    await page.getByRole('button', { name: 'Take a claim' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('TTL').fill('2m')
    await dialog.getByRole('button', { name: 'Take', exact: true }).click()
    const left = page.locator('.big-countdown')
    await expect.poll(() => left.textContent(), WAIT).toMatch(/^1m \d+s/)
    const before = await left.textContent()
    await expect.poll(() => left.textContent(), WAIT).not.toBe(before)
    await page.getByRole('button', { name: 'Renew', exact: true }).click()
    await dialog.getByLabel('TTL from now').fill('8m')
    await dialog.getByRole('button', { name: 'Renew' }).click()
    await expect.poll(() => left.textContent(), WAIT).toMatch(/^7m/)
    const { claims } = (await tenure.call('GET', '/claims')) as { claims: readonly { id: string }[] }
    await page.getByRole('button', { name: 'Release', exact: true }).click()
    await dialog.getByRole('textbox').fill(`claim-${claims[0]?.id}`)
    await dialog.getByRole('button', { name: 'Release' }).click()
    await expect.poll(async () => await tenure.call('GET', '/claims'), WAIT).toMatchObject({ claims: [] })
    expect(errors).toEqual([])
  })

  test('a lease is extended and moves, and a hostile value is text', async () => {
    await withClient(tenure.data, async (client) => {
      const prefix = 'object-lease-controller.ullberg.us'
      const metadata = { namespace: 'default' }
      await client.create(ConfigMap, {
        metadata: { ...metadata, name: 'leased', annotations: { [`${prefix}/ttl`]: '1h' } },
      })
      await client.create(ConfigMap, {
        metadata: { ...metadata, name: 'hostile', annotations: { [`${prefix}/ttl`]: HOSTILE } },
      })
    })
    const { errors, page } = await open('#/leases')
    await page.getByText(HOSTILE).first().waitFor()
    expect(await page.locator('img').count()).toBe(0)
    expect(await page.evaluate('window.wasHit')).toBeUndefined()
    await page.getByRole('row', { name: /leased/ }).click()
    const left = page.locator('.big-countdown')
    await expect.poll(() => left.textContent(), WAIT).toMatch(/^59m/)
    await page.getByRole('button', { name: '+1d' }).click()
    await expect.poll(() => left.textContent(), WAIT).toMatch(/^1d 0h|^1d/)
    expect(errors).toEqual([])
  })

  test('a database is scaled, and its job is shown live', async () => {
    await tenure.command('db', 'create', 'orders', '--type', 'redis')
    const { errors, page } = await open('#/databases')
    await page.getByRole('row', { name: /orders/ }).click()
    await page.getByRole('heading', { name: 'orders' }).waitFor()
    await page.getByRole('button', { name: 'Scale' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Replicas').fill('2')
    await dialog.getByRole('button', { name: 'Scale' }).click()
    await page.locator('.jobs li').filter({ hasText: 'scale' }).filter({ hasText: 'completed' }).waitFor()
    await page.getByText('resource.scaled').waitFor()
    expect(errors).toEqual([])
  })

  test('each operator shows its leader, its queues, and how old their last watch event is', async () => {
    await newApplication('watched')
    const { errors, page } = await open('#/controllers')
    for (const [operator, queue] of [
      ['applications', 'application-controller'],
      ['claims', 'pool'],
      ['databases', 'database'],
      ['lease-controllers', 'leases configmaps/v1'],
    ] as const) {
      const section = page.locator('section', { has: page.getByRole('heading', { name: operator, exact: true }) })
      await section.getByText('leads here').waitFor()
      const row = section.getByRole('row', { name: queue })
      await row.locator('[data-label="Last event"]', { hasText: /\d+ ?(ms|s|m)/ }).waitFor()
    }
    expect(await page.getByText('no queue').count()).toBe(0)
    expect(errors).toEqual([])
  })

  test('the keyboard reaches everything', async () => {
    await newApplication('keys')
    const { page } = await open('#/')
    await page.locator('.connection.live').waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('a')
    await page.getByRole('heading', { name: 'Applications' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('keys')
    await expect.poll(() => page.url(), WAIT).toContain('q=keys')
    // The first press clears the filter, the second leaves it.
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await page.getByRole('row', { name: /keys/ }).waitFor()
    await page.keyboard.press('j')
    await page.locator('[role=row]:focus', { hasText: 'keys' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'keys' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 360],
  ] as const)('axe finds nothing in any view, %s at %i pixels', async (colorScheme, width) => {
    const { errors, page } = await open('#/', { colorScheme, viewport: { width, height: 800 }, bypassCSP: true })
    await page.evaluate(AXE)
    for (const hash of [
      '#/',
      '#/applications',
      '#/claims',
      '#/leases',
      '#/databases',
      '#/controllers',
      '#/databases/1',
    ]) {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
      await page.locator('main h1').waitFor()
      await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
      const { violations } = (await page.evaluate('axe.run()')) as {
        violations: readonly { id: string; nodes: object[] }[]
      }
      expect(violations.map(({ id, nodes }) => `${hash} ${id} ${JSON.stringify(nodes[0]).slice(0, 300)}`)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    }
    expect(errors).toEqual([])
  })

  test('the page runs under a strict policy, and loads at most 80 kB', async () => {
    const { errors, page } = await open('#/')
    const response = await page.reload()
    expect(response?.headers()['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    )
    expect(response?.headers()['content-security-policy']).not.toContain('unsafe')
    let bytes = 0
    for (const file of ['/', '/dashboard/app.js', '/dashboard/app.css']) {
      const { headers } = await fetch(tenure.url + file, {
        headers: { accept: 'text/html', 'accept-encoding': 'gzip' },
      })
      bytes += Number(headers.get('content-length'))
    }
    expect(bytes).toBeLessThan(80_000)
    expect(bytes).toBeGreaterThan(10_000)
    expect(errors).toEqual([])
  })

  test('after a restart of the server the page reconnects and shows the truth', async () => {
    await newApplication('before')
    const { page } = await open('#/applications')
    await page.getByRole('row', { name: /before/ }).waitFor()
    await page.evaluate('window.wasKept = true')
    await tenure.halt()
    await page.locator('.connection.reconnecting').waitFor()
    await page.getByRole('row', { name: /before/ }).waitFor()
    await tenure.run()
    await page.locator('.connection.live').waitFor()
    await newApplication('after')
    await tenure.call('DELETE', `${APPLICATIONS}/before`)
    await page.getByRole('row', { name: /after/ }).waitFor()
    await page.getByRole('row', { name: /before/ }).waitFor({ state: 'detached' })
    expect(await page.evaluate('window.wasKept')).toBe(true)
  })

  test('with tokens there is a sign-in, and a role that may only read sees what it lacks', async () => {
    await tenure.halt()
    const guarded = await Tenure.start('--auth', 'token')
    try {
      const token = await withClient(guarded.data, async (client) => {
        const names = { metadata: { name: 'reader' } }
        await client.create(ServiceAccount, { metadata: { name: 'reader', namespace: 'default' } })
        await client.create(ClusterRole, {
          ...names,
          rules: [
            { apiGroups: ['cloudnative.elide.dev'], resources: ['applications'], verbs: ['get', 'list', 'watch'] },
          ],
        })
        await client.create(ClusterRoleBinding, {
          ...names,
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
          subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: 'default' }],
        })
        const { value } = await client.requester.json({
          verb: 'create',
          idempotent: false,
          method: 'POST',
          path: '/api/v1/namespaces/default/serviceaccounts/reader/token',
          headers: { accept: 'application/json', 'content-type': 'application/json' },
          body: JSON.stringify({
            apiVersion: 'authentication.k8s.io/v1',
            kind: 'TokenRequest',
            spec: { expirationSeconds: 600 },
          }),
        })
        return (value as { readonly status: { readonly token: string } }).status.token
      })
      const { page } = await open('#/applications', {}, guarded.url)
      await page.getByLabel('Bearer token').fill('wrong')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByText(/does not accept this token/).waitFor()
      await page.getByLabel('Bearer token').fill(token)
      await page.getByRole('button', { name: 'Sign in' }).click()
      const create = page.getByRole('button', { name: 'New application' })
      await create.waitFor()
      await expect.poll(() => create.isDisabled(), WAIT).toBe(true)
      await page
        .getByText(/create applications\.cloudnative\.elide\.dev/)
        .first()
        .waitFor({ state: 'attached' })
      await page.evaluate(`location.hash = '#/claims'`)
      await page
        .getByText(/may not list claims/)
        .first()
        .waitFor()
    } finally {
      await guarded.stop()
      await tenure.run()
    }
  })
})
