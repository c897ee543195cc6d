import { fromNow } from '@tenure/runtime/cli'
import { type Finding, Findings } from './finding.ts'
import { type InstalledOperator, isInstalled } from './installed.ts'

/** Checks that each operator has a leader that renews its Lease. */
export function checkLeaders(installed: readonly InstalledOperator[], now: number): readonly Finding[] {
  const found = new Findings('leaders')
  for (const each of installed) {
    const { name } = each.operator
    if (!isInstalled(each)) found.note(`Nothing runs ${name} here, or it runs without an election.`)
    else if (each.leaders.length === 0) {
      found.problem(
        `The operator ${name} is installed, and no process has ever led it.`,
        `See its pods: kubectl get pods -n ${each.accounts[0]?.namespace ?? ''}, and their logs.`,
      )
    }
    for (const { holder, isStale, lease, namespace, renewedAt = 0 } of each.leaders) {
      const where = `the Lease ${namespace}/${lease}`
      const advice = `Start the operator, or see why its pods do not run: kubectl get pods -n ${namespace}.`
      if (holder === undefined) found.problem(`No process leads ${name}: ${where} has no holder.`, advice)
      else if (isStale)
        found.problem(`${holder}, which led ${name}, renewed ${where} last ${fromNow(renewedAt, now)}.`, advice)
      else found.ok(`${holder} leads ${name} (${where}).`)
    }
  }
  return found.all
}
