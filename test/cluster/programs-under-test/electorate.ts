/** Observes a leader election: the candidates' own statements and what the API server stored. */
import { Client, compareResourceVersions, HttpTransport, loadConfig } from '@tenure/kube'
import { ConfigMap, Lease } from '@tenure/kube/kinds'
import { SharedInformers } from '@tenure/runtime'

import type { CandidateLine, CandidateSettings } from './candidate.ts'
import { type Child, startProgram } from './child.ts'

/** The first and last time that a candidate reported to lead. Monotonic. */
export interface Term {
  readonly identity: string
  readonly first: number
  readonly last: number
}

/** A candidate in its own process. */
export class Candidate {
  readonly identity: string
  readonly process: Child

  constructor(kubeconfig: string, settings: CandidateSettings) {
    this.identity = settings.identity
    this.process = startProgram('candidate.ts', settings, { KUBECONFIG: kubeconfig })
  }

  /** Returns its output lines since a time. */
  said(since = 0): readonly CandidateLine[] {
    return (this.process.lines() as readonly CandidateLine[]).filter(({ at }) => at >= since)
  }

  /** Returns when it first reported to lead since a time. */
  ledAt(since = 0): number | undefined {
    return this.said(since).find(({ leads }) => leads)?.at
  }

  /** Returns when it last reported to lead; zero if never. */
  lastLed(): number {
    return this.said().findLast(({ leads }) => leads)?.at ?? 0
  }

  terms(): readonly Term[] {
    const terms: Term[] = []
    let term: { identity: string; first: number; last: number } | undefined
    for (const { at, leads } of this.said()) {
      if (leads === undefined) continue
      if (!leads) term = undefined
      else if (term) term.last = at
      else terms.push((term = { identity: this.identity, first: at, last: at }))
    }
    return terms
  }
}

export interface Entry {
  readonly resourceVersion: string
  readonly name: string | undefined
}

/** Records Lease holders and writes in the order in which the API server stored them. */
export class Journal {
  readonly holders: Entry[] = []
  readonly writers: Entry[] = []
  readonly #over = new AbortController()
  readonly #transport: HttpTransport
  readonly #informers: SharedInformers

  private constructor(transport: HttpTransport, namespace: string, lease: string, work: string) {
    this.#transport = transport
    this.#informers = new SharedInformers({ api: new Client({ transport }) })
    const leases = this.#informers.informer(Lease, { namespace, fieldSelector: `metadata.name=${lease}` })
    leases.subscribe(({ object: { metadata, spec } }) => {
      this.holders.push({ resourceVersion: metadata.resourceVersion, name: spec?.holderIdentity })
    })
    const works = this.#informers.informer(ConfigMap, { namespace, fieldSelector: `metadata.name=${work}` })
    works.subscribe(({ object: { metadata, data } }) => {
      if (data) this.writers.push({ resourceVersion: metadata.resourceVersion, name: data['writer'] })
    })
    this.#informers.start(this.#over.signal)
  }

  static async open(kubeconfigPath: string, namespace: string, lease: string, work: string): Promise<Journal> {
    const journal = new Journal(new HttpTransport(await loadConfig({ kubeconfigPath })), namespace, lease, work)
    await journal.#informers.whenSynced()
    return journal
  }

  /** Returns how often a candidate has written the Lease. */
  timesHeldBy(identity: string): number {
    return this.holders.filter(({ name }) => name === identity).length
  }

  /** Returns the writes that were stored while the Lease named another holder. */
  writesOfStrangers(): readonly Entry[] {
    return this.writers.filter(({ resourceVersion, name }) => {
      const holder = this.holders.findLast((held) => compareResourceVersions(held.resourceVersion, resourceVersion) < 0)
      return holder?.name !== name
    })
  }

  async close(): Promise<void> {
    this.#over.abort()
    await this.#informers.whenStopped()
    await this.#transport.close()
  }
}
