export { type OperatorRbac, type PolicyRule, rule, ruleForName } from './policy-rules.ts'
