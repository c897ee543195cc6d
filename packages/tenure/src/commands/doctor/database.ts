import { describeDbFailure } from '@tenure/databases/cli'
import type { ClusterContext, ClusterOptions } from '../cluster/context.ts'
import { Databases } from '../cluster/databases.ts'
import { type Finding, Findings } from './finding.ts'
import { type InstalledOperator, isInstalled } from './installed.ts'

/** Checks that the PostgreSQL with the rows answers, and has the tables of this version. */
export async function checkDatabase(
  context: ClusterContext,
  options: ClusterOptions,
  installed: readonly InstalledOperator[],
): Promise<readonly Finding[]> {
  const found = new Findings('database')
  const databases = new Databases(context, options)
  if (!databases.isNamed) {
    const isUsed = installed.some((each) => each.operator.name === 'databases' && isInstalled(each))
    found.note(
      `No PostgreSQL is named${isUsed ? ', so that of the databases operator is not checked' : ''}.`,
      isUsed ? 'Set DATABASE_URL, or --database-url.' : undefined,
    )
    return found.all
  }
  let source = '--database-url'
  try {
    const reader = await databases.open()
    source = reader.source
    const version = await reader.serverVersion()
    const missing = await reader.missingMigrations()
    if (missing.length === 0) found.ok(`PostgreSQL ${version} of ${source} answers, and its tables are up to date.`)
    else
      found.problem(
        `PostgreSQL ${version} of ${source} lacks migrations: ${missing.join(', ')}.`,
        'Start the databases operator of this version on it once: npm start, or tenure databases.',
      )
  } catch (error) {
    found.problem(
      describeDbFailure(error, source),
      'Is PostgreSQL running, and are the address, the user and the password right? tenure db list uses the same.',
    )
  } finally {
    await databases.close()
  }
  return found.all
}
