import type { Step } from './run.ts'

/** The checks that need no test run: types, lint, format. */
export const staticSteps: readonly Step[] = [
  { name: 'types', tool: 'typescript', args: ['-p', '.'] },
  { name: 'lint', tool: 'oxlint', args: ['--deny-warnings'] },
  { name: 'format', tool: 'oxfmt', args: ['--check'] },
]
