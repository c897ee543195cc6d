import { Application, applicationDefinition } from '@tenure/applications'
import { CLAIM_ANNOTATIONS, CLAIM_LABELS } from '@tenure/claims'
import { TestControlPlane } from '@tenure/controlplane/testing'
import { Client, connectTo, type ObjectMeta, RestMapper } from '@tenure/kube'
import { ConfigMap, Lease, Pod, StatefulSet } from '@tenure/kube/kinds'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import { LeaseController, leaseControllerDefinition, SEED_FAMILY } from '@tenure/leases'
import { leaseFamilies, NEWER_FAMILY } from '@tenure/leases/cli'
import { rfc3339 } from '@tenure/runtime'
import { terminalOf } from '@tenure/runtime/cli'
import type { ClusterContext, ClusterOptions } from './context.ts'
import { describeCommandFailure } from './run.ts'

export interface ClusterCommandResult {
  readonly code: number
  readonly output: string
  readonly warnings: readonly string[]
}

type Run = (context: ClusterContext, options: ClusterOptions, operands: readonly string[]) => Promise<number>

export interface ClusterFixtureOptions {
  /** Default: both. */
  readonly crds?: 'none'
  /** Default: neither is a terminal. */
  readonly terminal?: { readonly columns: number; readonly rows: number }
}

/** Runs commands against the embedded control plane in process, in virtual time. */
export class ClusterFixture {
  readonly clock: VirtualClock
  readonly server: TestControlPlane
  readonly client: Client
  readonly #options: ClusterFixtureOptions
  environment: Record<string, string> = {}

  private constructor(clock: VirtualClock, server: TestControlPlane, options: ClusterFixtureOptions) {
    this.clock = clock
    this.server = server
    // Time stands still while a command runs: a retry would wait forever.
    this.client = new Client({ transport: server.transport, clock, retry: { attempts: 1 } })
    this.#options = options
  }

  static async start(options: ClusterFixtureOptions = {}): Promise<ClusterFixture> {
    const clock = new VirtualClock()
    const crds = options.crds === 'none' ? [] : [applicationDefinition, leaseControllerDefinition]
    const server = await TestControlPlane.start({ clock, crds, namespaces: ['default', 'team', 'system'] })
    await clock.advance(250)
    return new ClusterFixture(clock, server, options)
  }

  async stop(): Promise<void> {
    await this.server.stop()
  }

  /** Runs a command until it ends. */
  async run(run: Run, operands: readonly string[] = [], options: ClusterOptions = {}): Promise<ClusterCommandResult> {
    const output: string[] = []
    const context = this.context((text) => void output.push(text))
    try {
      const code = await run(context, options, operands)
      return { code, output: output.join('\n'), warnings: context.warnings }
    } catch (error) {
      const { code, message } = describeCommandFailure(error, context.config)
      return { code, output: output.join('\n'), warnings: [...context.warnings, message] }
    }
  }

  context(write: (text: string) => void, signal = new AbortController().signal): ClusterContext {
    const warnings: string[] = []
    const { client: api, clock } = this
    const terminal = this.#options.terminal && { isTTY: true, ...this.#options.terminal }
    return {
      api,
      kinds: new RestMapper(api.requester),
      config: connectTo({ server: 'https://cluster.example:6443', origin: 'the test' }),
      clock,
      random: seededRandom(1),
      environment: this.environment,
      terminal: terminalOf(terminal ?? {}, { NO_COLOR: '1' }),
      signal,
      families: leaseFamilies({ prefix: SEED_FAMILY.prefix, newerPrefix: NEWER_FAMILY.prefix }),
      isLocal: false,
      write,
      warn: (text) => void warnings.push(text),
      warnings,
    }
  }

  application(name: string, status: Application['status'] = {}, namespace = 'default', more: ObjectMeta = {}): void {
    const metadata = { ...more, name, namespace }
    this.server.seed(Application, { metadata, spec: { image: 'nginx', replicas: 2, ports: [] }, status })
  }

  claim(id: string, status: string, endsIn?: number, message = ''): void {
    const { clock } = this
    this.server.seed(ConfigMap, {
      metadata: {
        name: `claim-${id}`,
        namespace: 'default',
        labels: {
          [CLAIM_LABELS.managedBy]: 'claim-controller',
          [CLAIM_LABELS.id]: id,
          [CLAIM_LABELS.pool]: 'chrome',
        },
        annotations: {
          [CLAIM_ANNOTATIONS.preProvisioned]: 'true',
          ...(endsIn !== undefined && {
            [CLAIM_ANNOTATIONS.claimedAt]: rfc3339(clock.now()),
            [CLAIM_ANNOTATIONS.expiresAt]: rfc3339(clock.now() + endsIn),
          }),
        },
      },
      data: { claimStatus: status, claimStatusMessage: message },
    })
  }

  /** A pod with a lease; without an end it has no status of a lease controller. */
  leasedPod(name: string, ttl: string, endsIn?: number, namespace = 'default'): void {
    const { prefix } = SEED_FAMILY
    const end = endsIn === undefined ? undefined : rfc3339(this.clock.now() + endsIn)
    const annotations = {
      [`${prefix}ttl`]: ttl,
      ...(end !== undefined && {
        [`${prefix}expire-at`]: end,
        [`${prefix}lease-status`]: `Lease active. Expires at ${end} UTC.`,
      }),
    }
    this.server.seed(Pod, { metadata: { name, namespace, annotations }, spec: { containers: [] } })
  }

  leaseController(name: string, kind: string, ready: boolean, message = ''): void {
    const condition = { type: 'Ready', status: ready ? 'True' : 'False', reason: 'Test', message } as const
    const lastTransitionTime = rfc3339(this.clock.now())
    this.server.seed(LeaseController, {
      metadata: { name },
      spec: { kind },
      status: { conditions: [{ ...condition, lastTransitionTime }], activeLeases: 1 },
    })
  }

  database(name: string, readyReplicas: number): void {
    const labels = { app: name, 'managed-by': 'nest-controller', 'resource-id': '7' }
    this.server.seed(StatefulSet, {
      metadata: { name, namespace: 'team', labels },
      spec: {
        replicas: 1,
        serviceName: name,
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: 'database', image: 'docker.io/postgres:16' }] },
        },
      },
      status: { replicas: 1, readyReplicas },
    })
  }

  leader(name: string, holderIdentity: string, renewedAgo = 1_000): void {
    this.server.seed(Lease, {
      metadata: { name, namespace: 'system' },
      spec: {
        holderIdentity,
        leaseDurationSeconds: 15,
        renewTime: new Date(this.clock.now() - renewedAgo).toISOString().replace('Z', '000Z'),
      },
    })
  }
}
