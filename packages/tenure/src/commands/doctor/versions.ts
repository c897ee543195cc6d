import { type Finding, Findings } from './finding.ts'
import type { InstalledOperator } from './installed.ts'

export interface OwnVersions {
  readonly tenure: string
  readonly node: string
}

/** Shows which versions run, and whether operators are as old as each other. */
export function checkVersions(
  installed: readonly InstalledOperator[],
  { node, tenure }: OwnVersions,
): readonly Finding[] {
  const found = new Findings('versions')
  found.ok(`This command is Tenure ${tenure} on Node ${node}.`)
  for (const { accounts, operator } of installed) {
    for (const { image, namespace } of accounts) {
      const tag = /:([^:/@]+)(?:@.*)?$/.exec(image)?.[1]
      const text = `The operator ${operator.name} in ${namespace} runs ${image || 'an unknown image'}`
      if (tag === undefined || !/^v?\d+\.\d+\.\d+/.test(tag) || tag.replace(/^v/, '') === tenure) found.ok(`${text}.`)
      else found.note(`${text}, another version than this command.`, 'Update the older of them: docs/versioning.md.')
    }
  }
  return found.all
}
