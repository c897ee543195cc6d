import type { Readable } from 'node:stream'

export interface Command {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Lets the program ask the person at the terminal: it gets standard input and standard error. */
  readonly interactive: boolean
  /** Kills it. */
  readonly signal: AbortSignal
}

export interface CommandResult {
  /** The exit code, or the name of the signal that ended it. */
  readonly exit: number | string
  readonly stdout: string
  /** Empty for an interactive program: the person has seen it. */
  readonly stderr: string
}

/** Runs a program to its end. Rejects if it could not be started, printed too much or was killed by the signal. */
export type CommandRunner = (command: Command) => Promise<CommandResult>

/** Far more than any credential: what prints more is not a plugin. */
const MOST_OUTPUT = 1024 * 1024

/** Runs a program as a child process, without a shell. */
export const runCommand: CommandRunner = async ({ command, args, env, interactive, signal }) => {
  const { spawn } = await import('node:child_process')
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env,
      signal,
      killSignal: 'SIGKILL',
      windowsHide: true,
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', interactive ? 'inherit' : 'pipe'],
    })
    const fail = (error: Error): void => {
      // A grandchild may hold the pipes open: without this they would outlive the child.
      child.stdout?.destroy()
      child.stderr?.destroy()
      child.kill('SIGKILL')
      reject(error)
    }
    const stdout = collect(child.stdout, fail)
    const stderr = collect(child.stderr, fail)
    child.once('error', fail)
    child.once('close', (code, killedBy) => {
      resolve({ exit: code ?? killedBy ?? 'an unknown signal', stdout: stdout(), stderr: stderr() })
    })
  })
}

function collect(stream: Readable | null, fail: (error: Error) => void): () => string {
  const chunks: Buffer[] = []
  let size = 0
  stream?.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > MOST_OUTPUT) fail(new Error('it printed more than a megabyte'))
    else chunks.push(chunk)
  })
  return () => Buffer.concat(chunks).toString('utf8')
}
