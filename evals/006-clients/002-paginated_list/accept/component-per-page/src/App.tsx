import { useState } from "react";
import { TopicPicker } from "./TopicPicker";
import { Articles } from "./Articles";

export default function App() {
  const [topic, setTopic] = useState("science");
  const [footer, setFooter] = useState<HTMLElement | null>(null);
  return (
    <>
      <TopicPicker topic={topic} onPick={setTopic} />
      <Articles key={topic} topic={topic} footer={footer} />
      <footer ref={setFooter} />
    </>
  );
}
