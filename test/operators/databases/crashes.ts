import { connect, createServer, type Server, type Socket } from 'node:net'
import { type ActionStep, describeAction } from '@tenure/runtime'

/** The statement by which the operator marks its own transactions. */
const MARK = 'SET LOCAL tenure.writer'
const COMMIT = 'COMMIT\0'

/**
 * Makes the operator crash before and after each of its writes, one after another. It stands between the operator and
 * PostgreSQL: a commit is lost on its way, or carried out without an answer. A crashed operator reaches the database no
 * more, so it cannot record its own end.
 */
export class Crashes {
  /** The writes around which the operator crashed. */
  readonly seen: string[] = []
  isDown = false
  readonly #server: Server
  readonly #steps = new Set<string>()
  readonly #sockets = new Set<Socket>()
  #hasLostCommit = false
  /** Names the part of the test, so that each crashes at its own writes. */
  part = ''

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(port: number): Promise<Crashes> {
    const server = createServer()
    const crashes = new Crashes(server)
    server.on('connection', (client) => crashes.#serve(client, port))
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    return crashes
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address ? address.port : 0
  }

  /** The operator's hook. */
  readonly onStep = (step: ActionStep): void => {
    if (this.isDown) throw new Error('The operator has crashed')
    if (step.phase === 'after' && step.outcome !== 'done') return
    const key = `${this.part}: ${step.phase} ${describeAction(step.action)}`
    if (this.#steps.has(key)) return
    this.#steps.add(key)
    this.#crash(key)
    throw new Error('The operator has crashed')
  }

  /** The next operator reaches the database. */
  recover(): void {
    this.isDown = false
  }

  async stop(): Promise<void> {
    this.#cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #crash(write: string): void {
    this.seen.push(write)
    this.isDown = true
    this.#cut()
  }

  #cut(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#sockets.clear()
  }

  #serve(client: Socket, port: number): void {
    if (this.isDown) return void client.destroy()
    const server = connect(port, '127.0.0.1')
    let isWriting = false
    let isAnswerLost = false
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        this.#sockets.delete(socket)
        other.destroy()
      })
    }
    client.on('data', (data) => {
      if (data.includes(MARK)) isWriting = true
      if (!isWriting || !data.includes(COMMIT)) return void server.write(data)
      isWriting = false
      this.#hasLostCommit = !this.#hasLostCommit
      if (this.#hasLostCommit) return this.#crash(`${this.part}: before commit`)
      isAnswerLost = true
      server.write(data)
    })
    server.on('data', (data) => {
      if (isAnswerLost) this.#crash(`${this.part}: after commit`)
      else client.write(data)
    })
  }
}
