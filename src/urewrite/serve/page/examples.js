/** Dialogues to begin with; the last turn is the one that is rewritten. Users and assistants take turns. */

/** @typedef {{language: "en" | "zh", title: string, turns: string[]}} Example */

/** @type {Example[]} */
export const EXAMPLES = [
  {
    language: "en",
    title: "Weather, from the paper",
    turns: ["How is the weather in Beijing today?", "Beijing is cloudy today.", "Why is it always like this?"],
  },
  {
    language: "en",
    title: "Author",
    turns: ["Who wrote Dune?", "Frank Herbert wrote Dune.", "When was he born?"],
  },
  {
    language: "en",
    title: "Delivery",
    turns: [
      "Do you have the RTX-4090 in stock?",
      "Yes, we have three of them, at 1,799 dollars each.",
      "Can it be delivered to Oslo?",
      "Delivery to Oslo takes five working days.",
      "How much does that cost?",
    ],
  },
  {
    language: "en",
    title: "Telescope",
    turns: [
      "Tell me about the Hubble telescope.",
      "The Hubble Space Telescope was launched in 1990 and still circles the earth.",
      "Who was it named after?",
      "It was named after Edwin Hubble, an American astronomer.",
      "Where did he work?",
    ],
  },
  {
    language: "en",
    title: "Nothing to do",
    turns: ["Hello!", "Hello, how can I help you?", "Please book a table for two at eight o'clock tonight."],
  },
  {
    language: "zh",
    title: "天气，论文例句",
    turns: ["北京今天天气怎么样", "北京今天是阴天", "为什么总是这样"],
  },
  {
    language: "zh",
    title: "歌手",
    turns: ["你喜欢周杰伦吗", "喜欢，他的歌很好听", "最喜欢哪一首"],
  },
  {
    language: "zh",
    title: "电影",
    turns: ["你看过泰坦尼克号吗", "看过，我很喜欢这部电影", "你觉得它的主题曲怎么样"],
  },
  {
    language: "zh",
    title: "房价",
    turns: ["上海的房价是多少", "每平方米六万元左右", "那深圳呢"],
  },
  {
    language: "zh",
    title: "无需改写",
    turns: ["你好", "你好，请问有什么可以帮您", "帮我查一下明天从北京到上海的火车票"],
  },
];

/**
 * The turns of an example as chat messages; the last one is the user's.
 * @param {Example} example
 * @returns {import("./api.js").Message[]}
 */
export function messagesOf(example) {
  const last = example.turns.length - 1;
  return example.turns.map((content, turn) => ({ role: (last - turn) % 2 ? "assistant" : "user", content }));
}
