/** Hands out pod addresses, none twice at a time. */
export class PodAddresses {
  readonly #used = new Map<string, string>()
  readonly #owners = new Map<string, string>()
  readonly #prefix: string
  #next = 1

  /** `prefix` is the first two numbers: `10.244`. */
  constructor(prefix = '10.244') {
    this.#prefix = prefix
  }

  /** The address of a pod, the same each time. Undefined if all are taken. */
  of(uid: string): string | undefined {
    const known = this.#owners.get(uid)
    if (known) return known
    for (let tries = 0; tries < 65_000; tries++) {
      const address = `${this.#prefix}.${this.#next >> 8}.${this.#next & 255}`
      this.#next = this.#next >= 65_000 ? 1 : this.#next + 1
      if (this.#used.has(address)) continue
      this.note(uid, address)
      return address
    }
    return undefined
  }

  /** A pod has this address. */
  note(uid: string, address: string): void {
    this.#used.set(address, uid)
    this.#owners.set(uid, address)
  }

  release(uid: string): void {
    const address = this.#owners.get(uid)
    if (address === undefined) return
    this.#owners.delete(uid)
    if (this.#used.get(address) === uid) this.#used.delete(address)
  }
}
