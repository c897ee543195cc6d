export {
  configure,
  type ConfiguredOperator,
  defineOperator,
  type Operator,
  type OperatorDefinition,
  type OperatorNames,
  type OperatorParts,
  type OperatorQueue,
} from './operator.ts'
