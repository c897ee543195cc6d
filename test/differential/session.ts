/** The servers of a run, with a namespace per case and the custom resources of the corpus. */
import { randomBytes } from 'node:crypto'

import { until } from '../cluster/support/until.ts'
import type { Case, JsonObject } from './case.ts'
import { notes, widgets } from './custom-resource.ts'
import { CRDS, custom } from './steps.ts'
import { type Recorded, runCase, type Variables } from './run-case.ts'
import { ServerUnderTest } from './server-under-test.ts'

const DEFINITIONS = [widgets, notes]
const ESTABLISHED = ['widgets', 'notes']

export class Session {
  readonly #servers: readonly ServerUnderTest[]
  readonly #run = `d${randomBytes(3).toString('hex')}`
  readonly #namespaces: string[] = []

  private constructor(servers: readonly ServerUnderTest[]) {
    this.#servers = servers
  }

  /** Connects to the servers of these kubeconfigs. */
  static async open(kubeconfigs: readonly string[]): Promise<Session> {
    const session = new Session(await Promise.all(kubeconfigs.map((file) => ServerUnderTest.open(file))))
    await session.#each((server) => session.#install(server))
    return session
  }

  /** Runs a case and returns each server's responses. */
  async run(test: Case): Promise<readonly (readonly Recorded[])[]> {
    const namespace = `${this.#run}-${this.#namespaces.length}`
    this.#namespaces.push(namespace)
    return this.#each(async (server) => {
      await this.#prepare(server, namespace, test.hasPods ?? false)
      return runCase(server, test, this.#variables(namespace))
    })
  }

  async close(): Promise<void> {
    await this.#each(async (server) => {
      for (const { metadata } of DEFINITIONS.map((definition) => this.#filled(definition))) {
        await server.ask({ method: 'DELETE', path: `${CRDS}/${metadata.name}` })
      }
      for (const name of this.#namespaces) await server.ask({ method: 'DELETE', path: `/api/v1/namespaces/${name}` })
      await server.close()
    })
  }

  #each<T>(action: (server: ServerUnderTest) => Promise<T>): Promise<readonly T[]> {
    return Promise.all(this.#servers.map(action))
  }

  #variables(namespace: string): Variables {
    return { ns: namespace, run: this.#run, group: `${this.#run}.tenure.test` }
  }

  #filled(definition: JsonObject): JsonObject & { readonly metadata: { readonly name: string } } {
    const text = JSON.stringify(definition).replaceAll('{group}', this.#variables('').group ?? '')
    return JSON.parse(text) as JsonObject & { readonly metadata: { readonly name: string } }
  }

  async #install(server: ServerUnderTest): Promise<void> {
    for (const definition of DEFINITIONS) await this.#insist(server, CRDS, this.#filled(definition))
    for (const plural of ESTABLISHED) {
      const path = custom(plural)
        .replace('{group}', this.#variables('').group ?? '')
        .replace('{ns}', 'default')
      await until(`${plural} are served`, async () => (await server.ask({ method: 'GET', path })).status === 200)
    }
    // Discovery lags behind in a server with several components.
    const path = `/apis/${this.#variables('').group}`
    await until('the group is served', async () => (await server.ask({ method: 'GET', path })).status === 200)
  }

  async #prepare(server: ServerUnderTest, name: string, hasPods: boolean): Promise<void> {
    await this.#insist(server, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    if (!hasPods) return
    const path = `/api/v1/namespaces/${name}/serviceaccounts/default`
    await until('the service account exists', async () => (await server.ask({ method: 'GET', path })).status === 200)
  }

  async #insist(server: ServerUnderTest, path: string, body: JsonObject): Promise<void> {
    const answer = await server.ask({ method: 'POST', path, body })
    if (answer.status !== 201) throw new Error(`POST ${path} returned ${answer.status}: ${JSON.stringify(answer.body)}`)
  }
}
