import { closest } from '@tenure/kube'
import { argumentError } from './usage-error.ts'

/** Throws a usage error that names the closest one, unless all `names` are among `known`. */
export function checkNames(what: string, names: readonly string[], known: readonly string[]): void {
  for (const name of names) {
    if (known.includes(name)) continue
    const [near] = closest(name, known, (candidate) => [candidate])
    const advice = near ? `Did you mean ${near}?` : `Choose from ${known.join(', ')}.`
    throw argumentError(`There is no ${what} ${JSON.stringify(name)}. ${advice}`)
  }
}
