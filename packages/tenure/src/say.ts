/** Tells a person something. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
