import { TestControlPlane } from '@tenure/controlplane/testing'
import type { View } from '@tenure/http'
import type { Client, Kind, KubeObject, Stored } from '@tenure/kube'
import { Deployment, Event, Pod } from '@tenure/kube/kinds'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import type { Logger } from '@tenure/runtime'
import { silentLogger } from '@tenure/runtime'
import { applicationDefinition } from '../api/crd.ts'
import { Application, type ApplicationSpec, LABELS, OPERATOR } from '../api/index.ts'
import { applicationController } from '../controllers/application/controller.ts'
import { type ApplicationRow, applicationsView } from '../http/applications-view.ts'
import { runSetup } from './run-setup.ts'

/** The operator's controller on a control plane without built-in controllers, in virtual time. */
export class OperatorFixture {
  readonly clock: VirtualClock
  readonly server: TestControlPlane
  /** Warnings and errors that the operator has logged. */
  readonly warnings: string[] = []
  readonly #log: Logger = {
    ...silentLogger,
    warn: (message) => void this.warnings.push(message),
    error: (message) => void this.warnings.push(message),
    child: () => this.#log,
  }
  #stop: (() => Promise<void>) | undefined
  #view: View<ApplicationRow> | undefined

  private constructor(clock: VirtualClock, server: TestControlPlane) {
    this.clock = clock
    this.server = server
  }

  static async create(): Promise<OperatorFixture> {
    const clock = new VirtualClock()
    return new OperatorFixture(clock, await TestControlPlane.start({ clock, crds: [applicationDefinition] }))
  }

  /** Client of a user. */
  get api(): Client {
    return this.server.client
  }

  async start(): Promise<void> {
    const { server } = this
    const { result, stop } = await runSetup({ server, random: seededRandom(2), log: this.#log }, (context) => ({
      controllers: [applicationController()],
      result: applicationsView(context, undefined),
    }))
    this.#view = result
    this.#stop = stop
    await this.settle()
  }

  /** The rows of the running operator. */
  get view(): View<ApplicationRow> {
    if (!this.#view) throw new Error('The operator is not started')
    return this.#view
  }

  async stop(): Promise<void> {
    await this.#stop?.()
    this.#stop = undefined
  }

  async close(): Promise<void> {
    await this.stop()
    await this.server.stop()
  }

  /** Creates an Application or updates the existing one, as a user. */
  async write(name: string, spec: ApplicationSpec): Promise<void> {
    const live = this.read(name)
    this.forget()
    if (live) await this.api.update(Application, { ...live, spec })
    else await this.create(name, spec)
  }

  async create(name: string, spec: ApplicationSpec): Promise<void> {
    await this.api.create(Application, { metadata: at(name), spec })
  }

  read(name: string): Stored<Application> | undefined {
    return this.server.peek(Application, at(name))
  }

  /** Objects that the operator has created. */
  children<T extends KubeObject>(kind: Kind<T>): readonly Stored<T>[] {
    return this.server.objects(kind).filter(({ metadata }) => metadata.labels?.[LABELS.managedBy] === OPERATOR)
  }

  /** Updates the status of a Deployment as its controller does after a rollout. */
  rollOut(name: string, ready?: number): void {
    const live = this.server.peek(Deployment, at(name))
    if (!live) throw new Error(`no Deployment ${name}`)
    const replicas = live.spec?.replicas ?? 1
    const count = { replicas, updatedReplicas: replicas, readyReplicas: ready ?? replicas }
    this.server.seed(Deployment, { ...live, status: { ...count, observedGeneration: live.metadata.generation ?? 0 } })
  }

  /** Adds a pod of a Deployment whose container waits for a reason. */
  addPod(name: string, deployment: string, reason: string): void {
    const template = this.server.peek(Deployment, at(deployment))?.spec?.template
    const container = { name: 'app', image: 'x', imageID: '', ready: false, restartCount: 0 }
    this.server.seed(Pod, {
      metadata: { ...template?.metadata, ...at(name) },
      status: { containerStatuses: [{ ...container, state: { waiting: { reason, message: `${reason}!` } } }] },
    })
  }

  /** Waits until the operator sends no requests for a time that is shorter than any of its delays. */
  async settle(): Promise<void> {
    for (let quiet = 0, seen = -1; quiet < 10; seen = this.server.requests.length) {
      await this.clock.advance(10)
      quiet = seen === this.server.requests.length ? quiet + 1 : 0
    }
  }

  async phase(name: string, wanted: string): Promise<void> {
    await this.clock.advanceUntil(() => this.read(name)?.status?.phase === wanted)
    await this.settle()
  }

  /** Writes of the operator, without events: `apply deployments/web`. */
  get writes(): readonly string[] {
    return this.server.requests
      .filter(({ plural, verb }) => plural !== Event.plural && !['get', 'list', 'watch'].includes(verb))
      .map(({ name, plural, subresource, verb }) => `${verb} ${plural}/${name}${subresource && `/${subresource}`}`)
  }

  /** Counts of the recorded events, by reason. */
  get events(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {}
    for (const { reason = '', series } of this.server.objects(Event)) {
      counts[reason] = (counts[reason] ?? 0) + (series?.count ?? 1)
    }
    return counts
  }

  /** Notes of the recorded events of a reason, oldest first. */
  notes(reason: string): readonly (string | undefined)[] {
    return this.server
      .objects(Event)
      .filter((each) => each.reason === reason)
      .toSorted((a, b) => (a.eventTime < b.eventTime ? -1 : 1))
      .map(({ note }) => note)
  }

  forget(): void {
    this.server.clearRequests()
  }
}

/** Status that the API server gives to a new Application. */
export const UNREPORTED = { observedGeneration: -1, phase: 'Pending' }

export const at = (name: string) => ({ name, namespace: 'default' })
