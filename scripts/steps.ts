import type { Step } from './run.ts'

/** The checks that need no test run: types, lint, format. */
export const staticSteps: readonly Step[] = [
  { name: 'types', tool: 'typescript', args: ['-p', '.'] },
  { name: 'types of the page', tool: 'typescript', args: ['-p', 'packages/dashboard/src/page'] },
  { name: 'lint', tool: 'oxlint', args: ['--deny-warnings'] },
  { name: 'format', tool: 'oxfmt', args: ['--check'] },
]
