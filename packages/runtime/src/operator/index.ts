export {
  configure,
  type ConfiguredOperator,
  defineOperator,
  type Operator,
  type OperatorDefinition,
  type OperatorIdentity,
  type OperatorParts,
} from './operator.ts'
