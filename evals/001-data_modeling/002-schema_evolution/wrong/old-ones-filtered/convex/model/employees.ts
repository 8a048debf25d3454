import { v, type Infer } from "convex/values";
import type { Doc } from "../_generated/dataModel";
import { newEmployee, phone } from "../schema";

/** What the public functions return. */
export const employeeView = v.object({
  _id: v.id("employees"),
  _creationTime: v.number(),
  name: v.string(),
  office: v.string(),
  phones: v.array(phone),
  remote: v.boolean(),
});

type EmployeeView = Infer<typeof employeeView>;
type NewEmployee = Infer<typeof newEmployee>;

function contactOf(
  employee: Doc<"employees">,
): Pick<NewEmployee, "phones" | "remote"> {
  if ("phones" in employee) {
    return { phones: employee.phones, remote: employee.remote };
  }
  return {
    phones:
      employee.phone === ""
        ? []
        : [{ label: "mobile", number: employee.phone }],
    remote: false,
  };
}

/** The fields of an employee in the new shape, whatever it is stored in. */
export function toNewShape(employee: Doc<"employees">): NewEmployee {
  const { name, office, photo } = employee;
  return {
    name,
    office,
    ...contactOf(employee),
    ...(photo === undefined ? {} : { photo }),
  };
}

/** The employee as clients see it, whatever shape it is stored in. */
export function toView(employee: Doc<"employees">): EmployeeView {
  const { _id, _creationTime, name, office } = employee;
  return { _id, _creationTime, name, office, ...contactOf(employee) };
}
