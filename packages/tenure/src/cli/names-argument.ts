import { Argument } from 'commander'

/** An argument whose values shells offer. `checkNames` checks it: commander would suggest nothing. */
export function namesArgument(name: string, meaning: string, known: readonly string[]): Argument {
  return Object.assign(new Argument(name, meaning), { argChoices: [...known] })
}
