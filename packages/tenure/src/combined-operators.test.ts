import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client, HttpTransport, loadConfig } from '@tenure/kube'
import { Lease } from '@tenure/kube/kinds'
import { defineOperator } from '@tenure/runtime'
import { defaultValues } from '@tenure/runtime/configuration'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { chooseOperators, combinedConfiguration } from './combined-operators.ts'
import { combinedOperators, combinedTable } from './combined-settings.ts'
import { operators } from './loaded-operators.ts'

const root = path.resolve(import.meta.dirname, '../../..')
const POLL_OPTIONS = { timeout: 60_000, interval: 100 }

const namesOf = (chosen: readonly { readonly name: string }[]): readonly string[] => chosen.map(({ name }) => name)

describe('the settings of several operators', () => {
  const { rows } = combinedConfiguration(operators)
  const row = (name: string): object | undefined => rows.find(({ flag }) => flag === name)

  test('a name with two meanings has the name of its operator in front', () => {
    expect(row('applications-namespace')).toMatchObject({ environment: 'WATCH_NAMESPACE' })
    expect(row('claims-namespace')).toMatchObject({ environment: 'NAMESPACE' })
    expect(row('claims-reconcile-interval')).toMatchObject({ environment: 'CLAIMS_RECONCILE_INTERVAL' })
    expect(row('namespace')).toBeUndefined()
  })

  test('every operator with webhooks has a port of its own', () => {
    const { 'applications.webhookPort': first, 'lease-controllers.webhookPort': second } = combinedTable(operators)
    expect([first?.default, second?.default]).toEqual([9443, 9444])
  })

  test('each operator gets its own values, those of the process, and no servers of its own', () => {
    const settings = {
      ...defaultValues(combinedTable(operators)),
      'applications.namespace': 'shops',
      'claims.namespace': 'previews',
      podName: 'me',
    }
    const configured = combinedOperators(operators, operators, settings)
    const of = (name: string): object | undefined => configured.find(({ operator }) => operator.name === name)?.settings
    expect(of('applications')).toMatchObject({ namespace: 'shops', podName: 'me', enableLeaderElection: true })
    expect(of('claims')).toMatchObject({ namespace: 'previews', podName: 'me', dashboardAddr: '0' })
    expect(of('databases')).toMatchObject({ enableMetrics: false, enableHealthCheck: false })
    expect(of('databases')).not.toHaveProperty('namespace')
  })
})

describe('the choice of operators', () => {
  const all = ['a', 'b', 'c'].map((name) => defineOperator({ name, setup: () => ({}) }))
  const choose = (wanted?: readonly string[], without?: readonly string[]): readonly string[] =>
    namesOf(chooseOperators(all, { operators: wanted, without }))

  test('it is all, those that are named, or all but some', () => {
    expect(choose()).toEqual(['a', 'b', 'c'])
    expect(choose(['c', 'a'])).toEqual(['a', 'c'])
    expect(choose(undefined, ['b'])).toEqual(['a', 'c'])
    expect(choose(['a', 'b'], ['b'])).toEqual(['a'])
  })

  test('an unknown operator and an empty choice are usage errors', () => {
    expect(() => choose(['d'])).toThrow('There is no operator "d"')
    expect(() => choose(['a'], ['a'])).toThrow('No operator is left')
    expect(() => chooseOperators(operators, { operators: ['claim'], without: undefined })).toThrow(
      'Did you mean claims?',
    )
  })
})

describe('tenure operator on a control plane', () => {
  let data: string
  const running: { readonly child: ChildProcess; readonly ended: Promise<unknown> }[] = []

  beforeEach(() => {
    data = mkdtempSync(path.join(tmpdir(), 'tenure-operator-'))
  })

  afterEach(async () => {
    for (const { child, ended } of running.toReversed()) {
      child.kill('SIGKILL')
      await ended
    }
    rmSync(data, { recursive: true, force: true })
  })

  function tenure(args: readonly string[], env: Readonly<Record<string, string>> = {}): (typeof running)[number] {
    const command = ['scripts/launch.mjs', 'packages/tenure/src/main.ts', ...args]
    const child = spawn(process.execPath, command, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const started = { child, ended: new Promise((resolve) => child.once('exit', resolve)) }
    running.push(started)
    return started
  }

  test('each operator is elected on its own, except those that are left out', { timeout: 120_000 }, async () => {
    const kubeconfig = path.join(data, 'kubeconfig')
    tenure(['controlplane', '--data', data, '--port', '0'])
    await expect.poll(() => existsSync(kubeconfig), POLL_OPTIONS).toBe(true)
    const transport = new HttpTransport(await loadConfig({ kubeconfigPath: kubeconfig, env: {} }))
    const api = new Client({ transport })
    const holders = async (): Promise<Readonly<Record<string, string | undefined>>> => {
      const { items } = await api.list(Lease, { namespace: 'default' })
      return Object.fromEntries(items.map(({ metadata, spec }) => [metadata?.name, spec?.holderIdentity ?? undefined]))
    }
    try {
      const addresses = ['--port', '0', '--api-addr', '127.0.0.1:0', '--health-probe-bind-address', '0']
      const operator = tenure(
        ['operator', '--without', 'databases', '--pod-name', 'both', '--log-level', 'error', ...addresses],
        { KUBECONFIG: kubeconfig },
      )
      await expect.poll(holders, POLL_OPTIONS).toEqual({
        'claim-controller-leader': 'both',
        'elide-operator-leader': 'both',
        'object-lease-operator-leader': 'both',
      })
      operator.child.kill('SIGTERM')
      expect(await operator.ended).toBe(0)
      // The Leases are free for the next process.
      expect(Object.values(await holders()).filter(Boolean)).toEqual([])
    } finally {
      await transport.close()
    }
  })
})
