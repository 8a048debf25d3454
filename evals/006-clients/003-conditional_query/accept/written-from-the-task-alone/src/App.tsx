import { useState } from "react";
import type { Id } from "../convex/_generated/dataModel";
import { ProjectDetails } from "./ProjectDetails";
import { ProjectList } from "./ProjectList";

export default function App() {
  const [chosenId, setChosenId] = useState<Id<"projects"> | null>(null);
  return (
    <main>
      <ProjectList onChoose={setChosenId} />
      <ProjectDetails projectId={chosenId} onClose={() => setChosenId(null)} />
    </main>
  );
}
