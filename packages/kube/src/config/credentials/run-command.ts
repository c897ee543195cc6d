import type { Readable } from 'node:stream'

export interface PluginCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Connects standard input and standard error to the terminal, so that the program can prompt the user. */
  readonly interactive: boolean
  /** Kills the program. */
  readonly signal: AbortSignal
}

export interface CommandResult {
  /** The exit code, or the name of the signal that ended it. */
  readonly exit: number | string
  readonly stdout: string
  /** Empty for an interactive program, which writes to the terminal. */
  readonly stderr: string
}

/** Runs a program to its end. Rejects if it could not be started, printed too much or was killed by the signal. */
export type CommandRunner = (command: PluginCommand) => Promise<CommandResult>

/** Maximum length of the output, far above that of a credential. */
const MAX_OUTPUT_BYTES = 1024 * 1024

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
      // A grandchild may keep the pipes open after the child has ended.
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
    if (size > MAX_OUTPUT_BYTES) fail(new Error('The output is longer than a megabyte'))
    else chunks.push(chunk)
  })
  return () => Buffer.concat(chunks).toString('utf8')
}
